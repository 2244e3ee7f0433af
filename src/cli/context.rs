//! The outside world: environment, clock, terminal, working directory. Nothing else in the
//! program looks at them, so that tests can say what they are.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the place that the lint points to"
)]

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use super::args::Global;
use super::failure::Failure;
use crate::error::Error;
use crate::rev::resolve::{Found, Target, resolve};
use crate::rev::syntax::Rev;
use crate::session::Session;
use crate::store::discover::Places;
use crate::ui::Ui;
use crate::write::{Reason, Writer};

/// What a command is given besides its own arguments.
#[derive(Debug)]
pub struct Context {
    /// Where output goes.
    pub ui: Ui,
    /// Now, in Unix milliseconds.
    pub now: i64,
    global: Global,
    places: Places,
    env_session: Option<String>,
    agent_session: Option<String>,
    opened: RefCell<Vec<(PathBuf, Rc<Session>)>>,
    stdin_taken: Cell<bool>,
}

fn env(name: &str) -> Option<String> {
    // A value that is not UTF-8 can name a directory; lossily read it names none, which is told.
    let value = std::env::var_os(name)?.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
}

impl Context {
    /// Looks at the outside world once.
    pub fn new(global: Global) -> Result<Context, Failure> {
        if let Some(dir) = &global.directory {
            std::env::set_current_dir(dir).map_err(Error::io("enter", dir))?;
        }
        let cwd = std::env::current_dir().map_err(Error::io("read", Path::new(".")))?;
        let places = Places {
            cwd,
            home: std::env::home_dir(),
            agent_dir: env("PI_CODING_AGENT_DIR").map(PathBuf::from),
            session_dir: global
                .session_dir
                .clone()
                .or_else(|| env("PI_CODING_AGENT_SESSION_DIR").map(PathBuf::from)),
        };
        let ui = Ui::new(&global, &Terminal::detect());
        Ok(Context {
            ui,
            now: jiff::Timestamp::now().as_millisecond(),
            global,
            places,
            env_session: env("PIS_SESSION").or_else(|| env("PI_SESSION_FILE")),
            agent_session: env("PI_SESSION_FILE"),
            opened: RefCell::default(),
            stdin_taken: Cell::new(false),
        })
    }

    /// Whether `--json` was given.
    pub fn json(&self) -> bool {
        self.global.json
    }

    /// The template of `--format`.
    pub fn format(&self) -> Option<&str> {
        self.global.format.as_deref()
    }

    /// Whether `--quiet` was given.
    pub fn quiet(&self) -> bool {
        self.global.quiet
    }

    /// Where sessions live.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Takes the lock on a session to change it. Where pis runs inside the session's own agent,
    /// which would not see the change, `force` is needed.
    pub fn writer(&self, session: &Session, force: bool) -> Result<Writer, Failure> {
        let Some(path) = session.path() else {
            return Err(Failure::usage("standard input cannot be changed")
                .hint("save the session to a file and name that with '-s FILE'"));
        };
        self.keep_from_agent(path, force)?;
        let writer = Writer::open(path)?;
        // What was seen before the lock may have been half of another writer's line; the look
        // under it is the one to tell of, once.
        let mut opened = self.opened.borrow_mut();
        let before = opened.len();
        opened.retain(|(known, _)| known != path);
        if opened.len() < before {
            crate::ui::notices::tell(&self.ui, writer.session())?;
        }
        drop(opened);
        Ok(writer)
    }

    /// Refuses to change the session of the agent that pis runs inside of, without `force`.
    pub fn keep_from_agent(&self, path: &Path, force: bool) -> Result<(), Failure> {
        if !force && self.is_inside_agent(path) {
            return Err(Failure::from(Error::NotWritable {
                session: path.to_owned(),
                reason: "it is the session of the agent that runs this command, which would not \
                         see the change and go on at its own leaf"
                    .into(),
                hint: "work on a copy ('pis clone'), or use --force".into(),
            }));
        }
        Ok(())
    }

    /// Whether pis runs inside the agent whose session this is.
    pub fn is_inside_agent(&self, path: &Path) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let own = self.agent_session.as_deref().map(Path::new).and_then(real);
        own.is_some() && own == real(path)
    }

    /// Why the leaf moves, for the log.
    pub fn reason<'a>(&self, op: &'a str, message: Option<&'a str>) -> Reason<'a> {
        Reason {
            op,
            message,
            now: self.now,
        }
    }

    /// Where sessions of another directory live.
    pub fn places_at(&self, cwd: Option<&Path>) -> Places {
        let Some(cwd) = cwd else {
            return self.places.clone();
        };
        // pi stores a directory as it is named, made absolute; it need not exist.
        let cwd = std::path::absolute(cwd).unwrap_or_else(|_| cwd.to_owned());
        Places {
            cwd,
            ..self.places.clone()
        }
    }

    /// A new session id: a UUID of version 7, as pi makes them.
    pub fn new_session_id(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }

    /// Looks at the clock again, for a command that waits.
    pub fn tick(&mut self) {
        self.now = jiff::Timestamp::now().as_millisecond();
    }

    /// Now, as pi writes times.
    pub fn timestamp(&self) -> String {
        crate::time::format(self.now).unwrap_or_default()
    }

    /// The session that the options, the environment or the working directory name.
    pub fn session(&self) -> Result<Rc<Session>, Failure> {
        match self.global.session.as_ref().or(self.env_session.as_ref()) {
            Some(name) => self.open(name),
            None => self.open_file(&self.places.newest()?),
        }
    }

    /// The file of the session that [`Context::session`] would open.
    pub fn current_file(&self) -> Result<PathBuf, Failure> {
        match self.global.session.as_ref().or(self.env_session.as_ref()) {
            Some(name) if name == "-" => {
                Err(Failure::usage("standard input is no file")
                    .hint("name a session with '-s FILE'"))
            }
            Some(name) => self.find_file(name),
            None => Ok(self.places.newest()?),
        }
    }

    /// The file of the session with a name.
    pub fn find_file(&self, name: &str) -> Result<PathBuf, Failure> {
        Ok(self.places.find(name, &name_of)?)
    }

    /// The session with a name: a path, an id, a unique beginning or name, `-`.
    pub fn open(&self, name: &str) -> Result<Rc<Session>, Failure> {
        if name != "-" {
            return self.open_file(&self.find_file(name)?);
        }
        let path = PathBuf::from("-");
        if let Some(session) = self.already_open(&path) {
            return Ok(session);
        }
        Ok(self.keep(path, Session::from_bytes(self.stdin_bytes()?)?))
    }

    /// Asks a question on the terminal; without one, says which option answers it.
    pub fn confirm(&self, question: &str) -> Result<bool, Failure> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Err(Failure::usage("there is no terminal to ask on").hint("say --yes"));
        }
        let question = crate::ui::sanitize::visible(question).into_owned();
        let asked = dialoguer::Confirm::new()
            .with_prompt(question)
            .default(false)
            .interact();
        asked.map_err(|e| Failure::other(e.to_string()))
    }

    /// Lets the user edit a text. A save shows in the file's time, so the file begins as an old
    /// one: a script in the place of an editor may be done within one tick of the clock.
    pub fn edit(&self, text: &str) -> Result<Edited, Failure> {
        // The year 2000, more or less.
        const LONG_AGO: Duration = Duration::from_hours(30 * 365 * 24);
        let default = if cfg!(windows) { "notepad" } else { "vi" };
        let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| env(name));
        let editor = editor.unwrap_or_else(|| default.to_owned());
        let words = shlex::split(&editor).unwrap_or_default();
        let failed = |e: std::io::Error| {
            Failure::other(format!("cannot edit the text with '{editor}': {e}"))
                .hint("set $VISUAL or $EDITOR to an editor that runs here")
        };
        let file = || {
            let mut file = tempfile::Builder::new()
                .prefix("pis-")
                .suffix(".md")
                .tempfile()?;
            writeln!(file, "{text}")?;
            let old = SystemTime::UNIX_EPOCH + LONG_AGO;
            file.as_file().set_modified(old)?;
            Ok((file.into_temp_path(), old))
        };
        let (file, old) = file().map_err(failed)?;
        let (program, args) = words
            .split_first()
            .ok_or_else(|| failed(std::io::ErrorKind::InvalidInput.into()))?;
        let status = Command::new(program).args(args).arg(&file).status();
        let status = status.map_err(failed)?;
        if !status.success() {
            return Ok(Edited::Nothing("the editor gave up"));
        }
        let saved = std::fs::metadata(&file).and_then(|meta| meta.modified());
        if saved.map_err(failed)? == old {
            return Ok(Edited::Nothing("the text was not saved"));
        }
        let text = std::fs::read_to_string(&file).map_err(failed)?;
        let text = text.trim_end();
        if text.is_empty() {
            return Ok(Edited::Nothing("the text is empty"));
        }
        Ok(Edited::Text(text.to_owned()))
    }

    /// Claims standard input, which has one reader: a second would wait for what never comes.
    pub fn take_stdin(&self) -> Result<(), Failure> {
        if self.stdin_taken.replace(true) {
            return Err(
                Failure::usage("standard input cannot be read for two purposes")
                    .hint("give the session as a file"),
            );
        }
        Ok(())
    }

    /// Whether the session that is meant where no other is named comes from standard input.
    pub fn session_is_stdin(&self) -> bool {
        let name = self.global.session.as_ref().or(self.env_session.as_ref());
        name.is_some_and(|name| name == "-")
    }

    /// All of standard input.
    pub fn stdin_bytes(&self) -> Result<Vec<u8>, Failure> {
        self.take_stdin()?;
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(Error::io("read", Path::new("standard input")))?;
        Ok(bytes)
    }

    /// All of standard input as text, without the newline at its end.
    pub fn stdin_text(&self) -> Result<String, Failure> {
        let text = String::from_utf8(self.stdin_bytes()?);
        let mut text = text.map_err(|_| Failure::usage("standard input is not UTF-8"))?;
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    fn already_open(&self, path: &Path) -> Option<Rc<Session>> {
        let opened = self.opened.borrow();
        opened
            .iter()
            .find(|(p, _)| p == path)
            .map(|(_, session)| Rc::clone(session))
    }

    fn keep(&self, path: PathBuf, session: Session) -> Rc<Session> {
        let session = Rc::new(session);
        self.opened.borrow_mut().push((path, Rc::clone(&session)));
        session
    }

    fn open_file(&self, path: &Path) -> Result<Rc<Session>, Failure> {
        match self.already_open(path) {
            Some(session) => Ok(session),
            None => Ok(self.keep(path.to_owned(), Session::open(path)?)),
        }
    }

    /// The session a revision is in.
    pub fn session_of(&self, rev: &Rev) -> Result<Rc<Session>, Failure> {
        match &rev.session {
            Some(name) => self.open(name),
            None => self.session(),
        }
    }

    /// Finds a revision and tells its warnings.
    pub fn find(&self, rev: &Rev) -> Result<(Rc<Session>, Found), Failure> {
        let session = self.session_of(rev)?;
        let found = resolve(&session, rev)?;
        for warning in &found.warnings {
            self.ui.note("ambiguous-label", warning);
        }
        Ok((session, found))
    }

    /// Reads and finds a revision.
    pub fn resolve(&self, text: &str) -> Result<(Rc<Session>, Target), Failure> {
        let (session, found) = self.find(&Rev::parse(text).map_err(Error::from)?)?;
        Ok((session, found.target))
    }

    /// Tells what was met in the sessions that were read, and ends the output.
    pub fn finish(&mut self) -> Result<(), Failure> {
        let written = self.ui.finish();
        for (_, session) in self.opened.borrow().iter() {
            crate::ui::notices::tell(&self.ui, session)?;
        }
        Ok(written?)
    }
}

/// The name of a session, for finding it.
fn name_of(path: &Path) -> Option<String> {
    Session::open(path)
        .and_then(|s| s.session_name())
        .ok()
        .flatten()
}

/// What became of a text that the user was to edit.
#[derive(Debug)]
pub enum Edited {
    /// The text, without white space at its end.
    Text(String),
    /// It is not to be used, and why.
    Nothing(&'static str),
}

/// A new entry id: 16 hex digits, so many random bits that no scan for it is needed.
pub fn new_entry_id() -> String {
    let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
    // The fixed bits of version and variant lie in different places of the two halves.
    let digits = (high ^ low).to_be_bytes().into_iter();
    let digits = digits.flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
        .collect()
}

/// What the terminal is like, and what the user wants of it.
#[derive(Debug, Clone, Default)]
pub struct Terminal {
    /// Whether stdout is a terminal.
    pub stdout: bool,
    /// Whether stderr is a terminal.
    pub stderr: bool,
    /// Columns, where known.
    pub width: Option<usize>,
    /// Whether the locale can show more than ASCII.
    pub utf8: bool,
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` is set and not `0`.
    pub force_color: bool,
    /// `TERM` is `dumb`.
    pub dumb: bool,
    /// The pager's command line.
    pub pager: Option<String>,
    /// Whether `LESS` is set.
    pub less: bool,
}

impl Terminal {
    fn detect() -> Terminal {
        // The first of these that is set decides, as in setlocale(3).
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|n| env(n))
            .unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        let stdout = std::io::stdout().is_terminal();
        let size = || terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
        Terminal {
            stdout,
            stderr: std::io::stderr().is_terminal(),
            width: env("COLUMNS")
                .and_then(|c| c.parse().ok())
                .or_else(size)
                .filter(|&w| w > 0),
            utf8: locale.contains("utf-8") || locale.contains("utf8") || cfg!(windows),
            no_color: env("NO_COLOR").is_some(),
            force_color: env("CLICOLOR_FORCE").is_some_and(|v| v != "0"),
            dumb: env("TERM").is_some_and(|t| t == "dumb"),
            // Set but empty means: no pager.
            pager: ["PIS_PAGER", "PAGER"]
                .iter()
                .find_map(std::env::var_os)
                .map(|p| p.to_string_lossy().into_owned()),
            less: env("LESS").is_some(),
        }
    }
}
