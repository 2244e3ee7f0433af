//! The command line: arguments that commands share, the outside world, errors to exit codes.

pub mod args;
pub(crate) mod complete;
mod context;
mod failure;
pub mod manual;
pub(crate) mod since;

use std::ffi::OsString;
use std::io::Write;

pub use args::{Cli, command};
pub use context::{Context, Edited, Terminal, new_entry_id};
pub use failure::{Exit, Failure};

use clap::FromArgMatches;

/// Reads the arguments. What clap itself prints, help and errors, follows `--color`, too.
fn parse(args: Vec<OsString>) -> Result<Cli, clap::Error> {
    let typed = args
        .iter()
        .enumerate()
        .find_map(|(n, arg)| match arg.to_str()? {
            "--color" => args.get(n + 1)?.to_str(),
            arg => arg.strip_prefix("--color="),
        });
    let color = match typed {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    };
    let matches = command().color(color).try_get_matches_from(args);
    let mut matches = matches.map_err(suggest_command)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|e| e.format(&mut command()))
}

/// Adds the commands that are spelled most like an unknown one, where clap finds none.
fn suggest_command(mut e: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    if e.kind() != ErrorKind::InvalidSubcommand || e.get(ContextKind::SuggestedSubcommand).is_some()
    {
        return e;
    }
    let Some(ContextValue::String(typed)) = e.get(ContextKind::InvalidSubcommand) else {
        return e;
    };
    let command = command();
    let near = crate::rev::nearest(
        typed,
        command.get_subcommands().map(clap::Command::get_name),
    );
    let near: Vec<_> = near.into_iter().map(str::to_owned).collect();
    if !near.is_empty() {
        e.insert(
            ContextKind::SuggestedSubcommand,
            ContextValue::Strings(near),
        );
    }
    e
}

/// Runs the program with the arguments and returns its exit code.
pub fn main(args: Vec<OsString>) -> u8 {
    clap_complete::CompleteEnv::with_factory(command).complete();
    if let [_, only] = args.as_slice()
        && (only == "--version" || only == "-V")
    {
        // Scripts ask this often; there is no need to set up every command for it.
        let said = writeln!(std::io::stdout(), "pis {}", env!("CARGO_PKG_VERSION"));
        return said.map_or_else(|e| Failure::from(e).report(false), |()| 0);
    }
    let wants_json = args.iter().any(|a| a == "--json");
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(e) => return failure::usage(&e, wants_json),
    };
    let mut context = match Context::new(cli.global) {
        Ok(context) => context,
        Err(failure) => return failure.report(wants_json),
    };
    survive_size_limits();
    let result = args::run(cli.command, &mut context);
    let finished = context.finish();
    match result.and_then(|exit| finished.map(|()| exit)) {
        Ok(exit) => exit.code(),
        Err(failure) => failure.report(wants_json),
    }
}

/// Lets a write beyond the limit of `ulimit -f` fail, instead of ending the program in the middle
/// of a line.
fn survive_size_limits() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::default();
        // Where it cannot be done, a write may still leave half a line, which the next one ends.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    }
}
