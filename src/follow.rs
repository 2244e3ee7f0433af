//! What was added to a session since it was last looked at, by whomever and in whatever way.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hashbrown::HashSet;

use crate::error::Result;
use crate::session::Session;
use crate::store::index::Ix;

/// Watches one session file.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// Length and time of change when the file was last read.
    stamp: Option<(u64, SystemTime)>,
    /// The last entry read: where it starts, and its id.
    last: Option<(u64, String)>,
    seen: HashSet<String>,
}

/// What a look at the file found.
#[derive(Debug)]
pub struct News {
    /// The session as it is now.
    pub session: Session,
    /// The entries that are new, oldest first.
    pub entries: Vec<Ix>,
    /// Whether the file no longer goes on where it ended: it was cut, rewritten or replaced.
    pub rewritten: bool,
}

impl Follower {
    /// A follower that knows the entries of a session that was opened.
    pub fn new(session: &Session, path: &Path) -> Result<Follower> {
        session.load_all()?;
        let mut follower = Follower {
            path: path.to_owned(),
            stamp: None,
            last: None,
            seen: HashSet::new(),
        };
        let all: Vec<_> = session.index().newest_first().collect();
        follower.remember(session, &all);
        Ok(follower)
    }

    /// Looks at the file; `None` where nothing happened, or there is no session at the moment.
    pub fn look(&mut self) -> Result<Option<News>> {
        let stamp =
            std::fs::metadata(&self.path).and_then(|meta| Ok((meta.len(), meta.modified()?)));
        // Whoever replaces the file may be about to put another one there.
        let Ok(stamp) = stamp else {
            self.stamp = None;
            return Ok(None);
        };
        if self.stamp == Some(stamp) {
            return Ok(None);
        }
        let Ok(session) = Session::open(&self.path) else {
            return Ok(None);
        };
        let known = self.read_back_to_known(&session)?;
        let index = session.index();
        let newer = index.newest_first().take(known.unwrap_or(index.len()));
        let is_new = |ix: &Ix| index.is_current(*ix) && !self.seen.contains(&*index.id_text(*ix));
        let mut entries: Vec<_> = newer.filter(is_new).collect();
        entries.reverse();
        drop(index);
        let rewritten = known.is_none() && self.last.is_some();
        self.stamp = Some(stamp);
        self.remember(&session, &entries);
        Ok(Some(News {
            session,
            entries,
            rewritten,
        }))
    }

    /// How many entries lie behind the last known one, which is looked for from the end.
    fn read_back_to_known(&self, session: &Session) -> Result<Option<usize>> {
        let Some((start, id)) = &self.last else {
            session.load_all()?;
            return Ok(None);
        };
        loop {
            let index = session.index();
            let reached = index
                .newest_first()
                .position(|ix| index.span(ix).0 <= *start);
            if let Some(n) = reached {
                let ix = Ix(u32::try_from(n).unwrap_or(u32::MAX));
                let is_same = index.span(ix).0 == *start && *index.id_text(ix) == **id;
                drop(index);
                if !is_same {
                    session.load_all()?;
                }
                return Ok(is_same.then_some(n));
            }
            drop(index);
            if !session.read_more()? {
                return Ok(None);
            }
        }
    }

    fn remember(&mut self, session: &Session, entries: &[Ix]) {
        let index = session.index();
        self.last = index
            .newest_first()
            .next()
            .map(|ix| (index.span(ix).0, index.id_text(ix).into_owned()));
        let ids = entries.iter().map(|&ix| index.id_text(ix).into_owned());
        self.seen.extend(ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"T","cwd":"/"}"#;

    fn line(id: &str) -> String {
        format!(
            r#"{{"type":"custom","customType":"c","id":"{id}","parentId":null,"timestamp":"T"}}"#
        )
    }

    fn write(path: &Path, ids: &[&str], tail: &str) {
        let lines: Vec<_> = std::iter::once(HEADER.to_owned())
            .chain(ids.iter().map(|id| line(id)))
            .collect();
        std::fs::write(path, format!("{}\n{tail}", lines.join("\n"))).unwrap();
    }

    /// The ids that are new, and whether the file was rewritten.
    fn news(follower: &mut Follower) -> Option<(Vec<String>, bool)> {
        let news = follower.look().unwrap()?;
        let ids = news.entries.iter().map(|&ix| news.session.id(ix)).collect();
        Some((ids, news.rewritten))
    }

    #[test]
    fn what_comes_is_found_whatever_becomes_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        write(&path, &["a", "b"], "");
        let mut follower = Follower::new(&Session::open(&path).unwrap(), &path).unwrap();
        let ids = |ids: &[&str], rewritten| {
            Some((ids.iter().map(|&id| id.to_owned()).collect(), rewritten))
        };
        assert_eq!(news(&mut follower), ids(&[], false));
        assert_eq!(news(&mut follower), None, "nothing happened");
        write(&path, &["a", "b", "c"], &line("d")[..20]);
        assert_eq!(
            news(&mut follower),
            ids(&["c"], false),
            "a half line is not there yet"
        );
        write(&path, &["a", "b", "c", "d"], "");
        assert_eq!(news(&mut follower), ids(&["d"], false));
        write(&path, &["a"], "");
        assert_eq!(news(&mut follower), ids(&[], true), "cut");
        write(&path, &["a", "e"], "");
        assert_eq!(news(&mut follower), ids(&["e"], false));
        write(&path, &["long-before", "a", "e", "f"], "");
        assert_eq!(
            news(&mut follower),
            ids(&["long-before", "f"], true),
            "rewritten"
        );
        std::fs::remove_file(&path).unwrap();
        assert_eq!(news(&mut follower), None, "gone");
        write(&path, &["x"], "");
        assert_eq!(news(&mut follower), ids(&["x"], true), "another one");
    }
}
