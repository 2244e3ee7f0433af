//! What can be typed: the global options and the list of commands.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};

use super::complete;
use super::{Context, Exit, Failure};
use crate::cmd::{plumbing, porcelain};

/// git for conversations with a coding agent
///
/// pis reads and writes the session files of the pi coding agent: each is one JSONL file whose
/// entries form a tree. Plumbing prints what scripts can rely on; porcelain is for people.
#[derive(Debug, Parser)]
#[command(
    name = "pis",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
#[command(after_help = AFTER_HELP)]
pub struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const AFTER_HELP: &str = "\
Which session: -s, else $PIS_SESSION, else $PI_SESSION_FILE, else the newest of this directory.
Exit codes: 0 yes, 1 no, 2 usage, 3 refused (try again), 4 written beside another, 128 failure.

Examples:
  pis log --graph             the tree of the newest session of this directory
  pis -s old.jsonl tree       the tree of another one, as pi draws it
  pis rev-parse @~2           the id of the entry two above the leaf
  pis context --tokens        how much a model would be sent

Revisions are described in pisrevisions(7): 'pis help revisions' opens it.";

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The session: a path, an id, a unique id prefix, a unique name, or - for standard input
    #[arg(short, long, global = true, value_name = "SESSION", value_hint = ValueHint::FilePath)]
    #[arg(add = complete::sessions())]
    pub(crate) session: Option<String>,
    /// The directory that holds the sessions
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) session_dir: Option<PathBuf>,
    /// Run as if started in DIR
    #[arg(short = 'C', global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
    /// Print JSON: one object a line, or one document for a single answer
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print each row in this form: %h %H %P %T %r %t %ar %s %b %l %(field) %x00, see pis(1)
    #[arg(long, global = true, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<String>,
    /// End rows with NUL instead of a newline
    #[arg(short = 'z', global = true)]
    pub(crate) nul: bool,
    /// When to use colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: ColorChoice,
    /// Do not start a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Print no notes on stderr
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

macro_rules! commands {
    ($($(#[$meta:meta])* $name:ident => $module:path),+ $(,)?) => {
        /// A command. Each lives in a file of its own.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$meta])* $name($module),)+
        }

        impl Command {
            /// Runs the command.
            pub(crate) fn run(self, context: &mut Context) -> Result<Exit, Failure> {
                match self { $(Command::$name(args) => args.run(context),)+ }
            }
        }
    };
}

commands! {
    Log => porcelain::log::Log,
    Tree => porcelain::tree::Tree,
    Show => porcelain::show::Show,
    Status => porcelain::status::Status,
    Branch => porcelain::branch::Branches,
    Grep => porcelain::grep::Grep,
    Sessions => porcelain::sessions::Sessions,
    Stats => porcelain::stats::Stats,
    CatEntry => plumbing::cat_entry::CatEntry,
    RevParse => plumbing::rev_parse::RevParse,
    RevPath => plumbing::rev_path::RevPath,
    MergeBase => plumbing::merge_base::MergeBase,
    LsEntries => plumbing::ls_entries::LsEntries,
    ForEachLabel => plumbing::for_each_label::ForEachLabel,
    ForEachTip => plumbing::for_each_tip::ForEachTip,
    Context => plumbing::context::ShowContext,
    SetLeaf => plumbing::set_leaf::SetLeaf,
    Append => plumbing::append::Append,
    Init => plumbing::init::Init,
    Fsck => plumbing::fsck::Fsck,
    Repair => plumbing::repair::Repair,
    Migrate => plumbing::migrate::Migrate,
    Checkout => porcelain::checkout::Checkout,
    Undo => porcelain::undo::Undo,
    Reflog => porcelain::reflog::Reflog,
    Label => porcelain::label::Label,
    Name => porcelain::name::Name,
    EditContext => porcelain::edit_context::EditContext,
    Fork => porcelain::fork::Fork,
    Clone => porcelain::clone::Clone,
    Copy => porcelain::copy::Copy,
    Import => porcelain::import::Import,
    New => porcelain::new::New,
    Rm => porcelain::rm::Rm,
    Completions => porcelain::completions::Completions,
    Help => porcelain::help::Help,
}

/// Runs a command; without one, tells what is here.
pub(crate) fn run(command: Option<Command>, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        Some(command) => command.run(context),
        None => porcelain::overview::run(context),
    }
}

/// The whole command line as clap sees it, for manuals and completions.
pub fn command() -> clap::Command {
    Cli::command()
}
