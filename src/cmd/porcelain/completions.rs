//! `pis completions`.

use clap::{Args, ValueEnum};
use clap_complete::env::Shells;

use crate::cli::{Context, Exit, Failure};

/// Print the completion script of a shell
///
/// The script asks pis itself, so that labels, revisions and sessions complete, too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pis completions bash > ~/.local/share/bash-completion/completions/pis
  pis completions zsh > ~/.zfunc/_pis
  pis completions fish > ~/.config/fish/completions/pis.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// The shells that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

impl Completions {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
        let name = self
            .shell
            .to_possible_value()
            .map(|v| v.get_name().to_owned());
        let script = script(&name.unwrap_or_default())?;
        context.ui.text(&script)?;
        Ok(Exit::Yes)
    }
}

/// The script that registers completion with a shell.
pub(crate) fn script(shell: &str) -> Result<String, Failure> {
    let shells = Shells::builtins();
    let completer = shells
        .completer(shell)
        .ok_or_else(|| Failure::usage(format!("there is no completion for '{shell}'")))?;
    let mut script = Vec::new();
    completer.write_registration("COMPLETE", "pis", "pis", "pis", &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}
