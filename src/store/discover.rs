//! Where sessions live, and which of them is meant. This room reads directories and headers, never
//! the environment: what the outside says comes in as [`Places`].
//!
//! One odd file or directory never ends a listing: what cannot be read is not a session, and the
//! rest is looked at. (pi gives up on a whole directory for one dangling link.)

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use serde_json::value::RawValue;

use crate::error::{Error, Result};
use crate::json::Raw;
use crate::store::header;

/// Looks up the name of a session file; reading names is a matter of a room above this one.
pub type NameOf<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// A header has to end within this much of a file for pi to take it for the newest session.
pub const HEADER_LIMIT: u64 = 1024 * 1024;

/// As many candidates are listed in an error.
const LISTED: usize = 20;

/// As many guesses are offered for a name that was mistyped.
const GUESSES: usize = 3;

/// What the outside says about where sessions live; filled in from flags and environment.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The current directory, absolute and without symlinks: its name is part of the default
    /// session directory's.
    pub cwd: PathBuf,
    /// The home directory, for `~`.
    pub home: Option<PathBuf>,
    /// `PI_CODING_AGENT_DIR`; empty counts as not set.
    pub agent_dir: Option<PathBuf>,
    /// `--session-dir`, else `PI_CODING_AGENT_SESSION_DIR`; empty counts as not set.
    pub session_dir: Option<PathBuf>,
}

/// The directory that holds the sessions of the current directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDir {
    /// The directory; it need not exist.
    pub path: PathBuf,
    /// Whether sessions of other directories lie in it, too. They are told apart by the `cwd` of
    /// their headers.
    pub shared: bool,
    /// Who says so.
    pub source: DirSource,
    /// What is wrong with the settings that were looked at.
    pub warning: Option<String>,
}

/// Who says where sessions live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirSource {
    /// A flag or the environment.
    Given,
    /// `sessionDir` in this settings file.
    Settings(PathBuf),
    /// Nobody: it is the directory that belongs to the current one.
    Default,
}

impl Places {
    /// The agent's directory: the given one, else `~/.pi/agent`.
    pub fn agent_dir(&self) -> PathBuf {
        let default = || Path::new("~").join(".pi").join("agent");
        self.resolve(&given(self.agent_dir.as_ref()).map_or_else(default, Path::to_owned))
    }

    /// Where the agent keeps the directories of sessions by default.
    pub fn sessions_root(&self) -> PathBuf {
        self.agent_dir().join("sessions")
    }

    /// Where the sessions of `cwd` are where nobody says otherwise. Different directories can
    /// share one: `/a/b-c` and `/a-b/c` do.
    pub fn default_session_dir(&self, cwd: &Path) -> PathBuf {
        let cwd = self.resolve(cwd);
        let text = cwd.to_string_lossy();
        let inner = text.strip_prefix(['/', '\\']).unwrap_or(&text);
        let name = inner.replace(['/', '\\', ':'], "-");
        self.sessions_root().join(format!("--{name}--"))
    }

    /// Where the sessions of the current directory are.
    pub fn session_dir(&self) -> SessionDir {
        let default = self.default_session_dir(&self.cwd);
        let (chosen, warning) = match given(self.session_dir.as_ref()) {
            Some(dir) => (Some((self.resolve(dir), DirSource::Given)), None),
            None => self.session_dir_of_settings(),
        };
        let (path, source) = chosen.unwrap_or_else(|| (default.clone(), DirSource::Default));
        SessionDir {
            shared: !same_path(&path, &default),
            path,
            source,
            warning,
        }
    }

    /// `sessionDir` of the project's settings, else of the agent's, and what is wrong with them.
    fn session_dir_of_settings(&self) -> (Option<(PathBuf, DirSource)>, Option<String>) {
        let mut warnings = Vec::new();
        let mut chosen = None;
        for dir in [self.cwd.join(".pi"), self.agent_dir()] {
            let file = dir.join("settings.json");
            match read_setting(&file) {
                Ok(Setting::Absent) => continue,
                Ok(Setting::Default) => {}
                Ok(Setting::Dir(dir)) => {
                    chosen = Some((self.resolve(Path::new(&dir)), DirSource::Settings(file)));
                }
                Err(reason) => {
                    warnings.push(format!("'{}' is ignored: {reason}", file.display()));
                    continue;
                }
            }
            break;
        }
        let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
        (chosen, warning)
    }

    /// The session that `pi -c` would open: the newest with a valid header.
    pub fn newest(&self) -> Result<PathBuf> {
        let dir = self.session_dir();
        let files = match session_files(&dir.path, &mut Vec::new()) {
            Ok(files) => paths(newest_first(files)),
            // pi makes the directory when it starts.
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(Error::io("read", &dir.path)(e)),
        };
        let seen = files.len();
        let mut found = self.sessions(files, dir.shared, HEADER_LIMIT);
        if let Some((path, _)) = found.next() {
            return Ok(path);
        }
        let (cwd, path) = (self.cwd.display(), dir.path.display());
        let others = match seen {
            0 => "",
            _ if dir.shared => "; those there have no valid header or are of other directories",
            _ => "; what is there has no valid header",
        };
        Err(Error::NoSession {
            message: format!("no session of '{cwd}' in '{path}'{others}"),
            hint: "start 'pi' here, name a session with '-s FILE', or make one with 'pis init'; \
                   'pis sessions --all' lists those of all directories"
                .into(),
        })
    }

    /// The session files of the current directory, the one written last first.
    pub fn list_here(&self) -> Vec<PathBuf> {
        self.sessions_here().map(|(path, _)| path).collect()
    }

    /// The session files of all directories, the one written last first. With a directory that
    /// was chosen by flag, environment or settings that is all there is, as for pi.
    pub fn list_all(&self) -> Vec<PathBuf> {
        self.sessions_everywhere().map(|(path, _)| path).collect()
    }

    /// The files that may be sessions of the current directory. None has been looked into.
    pub fn candidates_here(&self) -> Candidates {
        let dir = self.session_dir();
        Candidates {
            only_of_cwd: dir.shared,
            ..Candidates::of(std::slice::from_ref(&dir.path))
        }
    }

    /// The files that may be sessions of any directory. None has been looked into.
    pub fn candidates_everywhere(&self) -> Candidates {
        Candidates::of(&self.session_dirs())
    }

    /// The session that `name` means: a path, or an id, the start of one, or a name; here first,
    /// then in all directories. Ids win over names. A path is not checked.
    pub fn find(&self, name: &str, name_of: NameOf<'_>) -> Result<PathBuf> {
        if name.trim().is_empty() {
            return Err(Error::Usage {
                message: "the name of the session is empty".into(),
                hint: Some("give a path, an id, the start of an id, or a name".into()),
            });
        }
        if name.contains(['/', '\\']) || is_named_like_session(OsStr::new(name)) {
            return Ok(self.resolve(Path::new(name)));
        }
        let here: Vec<_> = self.sessions_here().map(Candidate::new).collect();
        if let Some(path) = pick(&here, name, name_of)? {
            return Ok(path);
        }
        let known: HashSet<&Path> = here.iter().map(|c| c.path.as_path()).collect();
        let elsewhere: Vec<_> = self
            .sessions_everywhere()
            .filter(|(path, _)| !known.contains(path.as_path()))
            .map(Candidate::new)
            .collect();
        if let Some(path) = pick(&elsewhere, name, name_of)? {
            return Ok(path);
        }
        let near = nearest(here.iter().chain(&elsewhere), name, name_of);
        let hint = if self.cwd.join(name).is_file() {
            format!("for the file of that name write './{name}'")
        } else if near.is_empty() {
            let root = self.sessions_root();
            format!(
                "the sessions of all directories lie under '{}'; 'pis sessions --all' lists them",
                root.display()
            )
        } else {
            format!("the nearest are:\n  {}", near.join("\n  "))
        };
        Err(Error::NoSession {
            message: format!("no session has the id or name '{name}', here or elsewhere"),
            hint,
        })
    }

    /// The session of the current directory that has exactly this id.
    pub fn holder_of(&self, id: &str) -> Option<PathBuf> {
        self.sessions_here()
            .find(|(_, held)| held == id)
            .map(|(path, _)| path)
    }

    /// The session of any directory that has exactly this id.
    pub fn holder_anywhere(&self, id: &str) -> Option<PathBuf> {
        let elsewhere = || self.sessions_everywhere().find(|(_, held)| held == id);
        self.holder_of(id)
            .or_else(|| elsewhere().map(|(path, _)| path))
    }

    fn sessions_here(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let found = self.candidates_here();
        // Listed whatever the header's length: pi opens such a file when it is named.
        self.sessions(paths(found.files), found.only_of_cwd, u64::MAX)
    }

    fn sessions_everywhere(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let files = paths(self.candidates_everywhere().files);
        self.sessions(files, false, u64::MAX)
    }

    /// The directories that hold the sessions of all directories.
    fn session_dirs(&self) -> Vec<PathBuf> {
        let dir = self.session_dir();
        if dir.source == DirSource::Default {
            directories(&self.sessions_root())
        } else {
            vec![dir.path]
        }
    }

    /// Those of the files that are sessions, with their ids; headers are read as they are asked
    /// for.
    fn sessions(
        &self,
        files: Vec<PathBuf>,
        only_of_cwd: bool,
        limit: u64,
    ) -> impl Iterator<Item = (PathBuf, String)> {
        files.into_iter().filter_map(move |path| {
            let header = header::read_for_discovery(&path, limit)?;
            let matches = !only_of_cwd || header.cwd.is_some_and(|cwd| self.is_cwd(&cwd));
            matches.then_some((path, header.id))
        })
    }

    /// Whether a header's `cwd` is the current directory, going by its text alone as pi does.
    pub fn is_cwd(&self, cwd: &str) -> bool {
        !cwd.is_empty() && same_path(&self.resolve(Path::new(cwd)), &self.resolve(&self.cwd))
    }

    /// The absolute path without `.` and `..`, a leading `~` expanded. Like Node, this goes by the
    /// text: `link/..` is the directory that holds `link`.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        let expanded = match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        };
        let mut out = PathBuf::new();
        for part in self.cwd.join(expanded).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    out.pop();
                }
                part => out.push(part),
            }
        }
        out
    }
}

/// What was given, unless it is empty: pi takes an empty variable for one that is not set.
fn given(path: Option<&PathBuf>) -> Option<&Path> {
    path.map(PathBuf::as_path)
        .filter(|p| !p.as_os_str().is_empty())
}

/// Whether two resolved paths are the same text, in any case on Windows.
fn same_path(a: &Path, b: &Path) -> bool {
    if cfg!(windows) {
        return a.to_string_lossy().to_lowercase() == b.to_string_lossy().to_lowercase();
    }
    a == b
}

fn paths(files: Vec<File>) -> Vec<PathBuf> {
    files.into_iter().map(|file| file.path).collect()
}

/// What a settings file says about `sessionDir`.
enum Setting {
    /// Nothing.
    Absent,
    /// That the default holds, whatever other settings say.
    Default,
    /// A directory, as written.
    Dir(String),
}

/// Reads `sessionDir` from a settings file; the error is why the file is of no use.
fn read_setting(file: &Path) -> Result<Setting, String> {
    match fs::metadata(file) {
        Err(_) => return Ok(Setting::Absent),
        // Opening a pipe would wait for its writer.
        Ok(meta) if !meta.is_file() => return Err("it is not a regular file".into()),
        Ok(_) => {}
    }
    let bytes = fs::read(file).map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    if text.is_empty() {
        return Ok(Setting::Absent);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let json: &RawValue =
        serde_json::from_str(text).map_err(|e| format!("it is not valid JSON: {e}"))?;
    let settings = Raw::new(json.get().as_bytes());
    if !settings.is_object() {
        return Err("it is not a JSON object".into());
    }
    match settings.get("sessionDir") {
        None => Ok(Setting::Absent),
        Some(value) if !value.is_truthy() => Ok(Setting::Default),
        Some(value) => match value.as_str() {
            Some(dir) => Ok(Setting::Dir(dir.into_owned())),
            None => Err("its sessionDir is not a string".into()),
        },
    }
}

/// Whether a file's name ends as pi's do. `.jsonl` alone counts, `.JSONL` does not.
fn is_named_like_session(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(b".jsonl")
}

/// Files that may be sessions, the one written last first.
#[derive(Debug, Default)]
pub struct Candidates {
    /// The files.
    pub files: Vec<File>,
    /// Whether only those count whose header names the current directory.
    pub only_of_cwd: bool,
    /// What could not be looked at, and why.
    pub unreadable: Vec<Error>,
}

impl Candidates {
    fn of(dirs: &[PathBuf]) -> Candidates {
        let (mut files, mut unreadable) = (Vec::new(), Vec::new());
        for dir in dirs {
            match session_files(dir, &mut unreadable) {
                Ok(found) => files.extend(found),
                // pi makes the directory when it starts.
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => unreadable.push(Error::io("read", dir)(e)),
            }
        }
        Candidates {
            files: newest_first(files),
            only_of_cwd: false,
            unreadable,
        }
    }
}

/// A file that may be a session.
#[derive(Debug, Clone)]
pub struct File {
    /// The file.
    pub path: PathBuf,
    /// When it was last written.
    pub modified: SystemTime,
    /// Its length when it was found.
    pub size: u64,
    /// Whether it is reached by a link in its directory or by a directory that is one.
    linked: bool,
    /// Where it really is.
    real: PathBuf,
}

impl File {
    /// The regular file at a path, however it is named.
    pub fn at(path: &Path) -> Option<File> {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(File {
            path: path.to_owned(),
            modified: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            size: meta.len(),
            linked: path.is_symlink(),
            real: fs::canonicalize(path).ok()?,
        })
    }
}

/// The regular files in `dir`, or links to such, that are named like sessions. What cannot be
/// looked at goes to `unreadable`.
fn session_files(dir: &Path, unreadable: &mut Vec<Error>) -> io::Result<Vec<File>> {
    let real_dir = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let dir_linked = fs::symlink_metadata(dir).is_ok_and(|m| m.is_symlink());
    let files = fs::read_dir(dir)?.flatten().filter_map(|entry| {
        let name = entry.file_name();
        if !is_named_like_session(&name) {
            return None;
        }
        let path = dir.join(&name);
        let meta = match fs::metadata(&path) {
            Ok(meta) if meta.is_file() => meta,
            Ok(_) => return None,
            Err(e) => {
                unreadable.push(Error::io("read", &path)(e));
                return None;
            }
        };
        let linked = entry.file_type().is_ok_and(|t| t.is_symlink());
        let real = if linked {
            fs::canonicalize(&path).ok()?
        } else {
            real_dir.join(&name)
        };
        Some(File {
            path,
            modified: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            size: meta.len(),
            linked: linked || dir_linked,
            real,
        })
    });
    Ok(files.collect())
}

/// Sorts by time, and equal times by name (pi's names begin with the time). A file that several
/// paths lead to is kept once, if possible by the path without links.
fn newest_first(mut files: Vec<File>) -> Vec<File> {
    files.sort_by_cached_key(|f| {
        let name = f.path.file_name().map(OsStr::to_owned);
        (Reverse(f.modified), f.linked, Reverse(name))
    });
    let mut seen = HashSet::new();
    files.retain(|f| seen.insert(f.real.clone()));
    files
}

/// The directories in `root`, or links to such, but for pis's own.
fn directories(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name() != ".pis")
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}

/// A session that a name may mean.
struct Candidate {
    path: PathBuf,
    id: String,
    /// Read when it is asked for: that takes the whole file.
    name: OnceCell<Option<String>>,
}

impl Candidate {
    fn new((path, id): (PathBuf, String)) -> Self {
        let name = OnceCell::new();
        Candidate { path, id, name }
    }

    fn name(&self, name_of: NameOf<'_>) -> Option<&str> {
        self.name.get_or_init(|| name_of(&self.path)).as_deref()
    }

    /// One line: id, name, path.
    fn line(&self, name_of: NameOf<'_>) -> String {
        let words: Vec<_> = self
            .name(name_of)
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let name = if words.is_empty() {
            "(no name)".into()
        } else {
            format!("\"{}\"", words.join(" "))
        };
        format!("{}  {name}  {}", self.id, self.path.display())
    }
}

/// The one candidate that has this id, else an id that starts so, else this name.
fn pick(all: &[Candidate], wanted: &str, name_of: NameOf<'_>) -> Result<Option<PathBuf>> {
    let rules: [&dyn Fn(&Candidate) -> bool; 3] =
        [&|c| c.id == wanted, &|c| c.id.starts_with(wanted), &|c| {
            c.name(name_of) == Some(wanted.trim())
        }];
    for rule in rules {
        let hits: Vec<_> = all.iter().filter(|c| rule(c)).collect();
        match hits.as_slice() {
            [] => {}
            [one] => return Ok(Some(one.path.clone())),
            many => {
                let lines = many.iter().take(LISTED).map(|c| c.line(name_of));
                let more = many.len().saturating_sub(LISTED);
                let rest = (more > 0).then(|| format!("… and {more} more"));
                return Err(Error::AmbiguousSession {
                    name: wanted.to_owned(),
                    candidates: lines.chain(rest).collect(),
                });
            }
        }
    }
    Ok(None)
}

/// The candidates whose ids or names are nearest to what was typed, newest first among equals.
fn nearest<'a>(
    all: impl Iterator<Item = &'a Candidate>,
    wanted: &str,
    name_of: NameOf<'_>,
) -> Vec<String> {
    let wanted = wanted.trim().to_lowercase();
    let len = wanted.chars().count();
    // A third of the letters may be wrong; of one or two letters none, or all would be near.
    let limit = (len / 3).min(4);
    let distance = |text: &str| strsim::osa_distance(&wanted, text);
    let score = |c: &Candidate| {
        let id = c.id.to_lowercase();
        // What was typed may be the start of an id.
        let start: String = id.chars().take(len).collect();
        let by_id = distance(&start).min(distance(&id));
        let name = c.name(name_of).unwrap_or_default().to_lowercase();
        let by_name = if len > 2 && name.contains(&wanted) {
            1
        } else if name.chars().count().abs_diff(len) > limit {
            usize::MAX
        } else {
            distance(&name)
        };
        by_id.min(by_name)
    };
    let mut near: Vec<_> = all.map(|c| (score(c), c)).collect();
    near.retain(|(score, _)| *score <= limit);
    near.sort_by_key(|(score, _)| *score);
    let lines = near.iter().take(GUESSES).map(|(_, c)| c.line(name_of));
    lines.collect()
}
