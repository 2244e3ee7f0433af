//! A header for a session that has lost its own.

use std::path::{Path, PathBuf};

use super::Surroundings;
use crate::json::Raw;
use crate::store::create::is_valid_id;
use crate::store::discover::{HEADER_LIMIT, Places};
use crate::store::header::read_for_discovery;
use crate::time;
use crate::write::branch::Header;

/// The line of a header: what is left of the one that is lost; else id and time as the file is
/// named, and the directory whose sessions lie where it lies.
pub(super) fn made(
    path: &Path,
    left: &[u8],
    first_time: Option<&str>,
    around: Surroundings<'_>,
) -> Vec<u8> {
    let left = |key: &str| {
        let value = Raw::new(left).get(key)?;
        // What was cut off ends without a quote.
        let is_whole =
            value.is_string() && value.bytes().len() > 1 && value.bytes().ends_with(b"\"");
        value.as_str().filter(|_| is_whole)
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let (time, id) = name.split_once('_').unwrap_or_default();
    let (own_id, own_time) = (left("id"), left("timestamp"));
    let ids = [own_id.as_deref().unwrap_or_default(), id, around.session_id];
    let named = time_of_name(time);
    let timestamp = own_time.as_deref().or(named.as_deref()).or(first_time);
    let cwd = left("cwd").map(std::borrow::Cow::into_owned);
    let cwd = cwd.unwrap_or_else(|| {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        cwd_of(real.parent().unwrap_or(Path::new("/")), around.places)
    });
    let header = Header {
        id: ids
            .into_iter()
            .find(|id| is_valid_id(id))
            .unwrap_or_default(),
        timestamp: timestamp.unwrap_or(around.now),
        cwd: &cwd,
        parent_session: None,
    };
    header.line().into_bytes()
}

/// The time in a file's name, where pi has put dashes for colons and the point.
fn time_of_name(name: &str) -> Option<String> {
    let (date, clock) = name.split_once('T')?;
    let parts: Vec<&str> = clock.strip_suffix('Z')?.split('-').collect();
    let [hours, minutes, seconds, millis] = parts[..] else {
        return None;
    };
    let time = format!("{date}T{hours}:{minutes}:{seconds}.{millis}Z");
    time::parse(&time).map(|_| time)
}

/// The directory whose sessions lie in a directory.
fn cwd_of(dir: &Path, places: &Places) -> String {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let fits = |cwd: &Path| places.default_session_dir(cwd).file_name() == dir.file_name();
    let text = |cwd: &Path| cwd.to_string_lossy().into_owned();
    let inner = name
        .strip_prefix("--")
        .and_then(|name| name.strip_suffix("--"));
    let Some(inner) = inner.filter(|_| !fits(&places.cwd)) else {
        return text(&places.cwd);
    };
    // What the sessions beside it say; else a directory that is there; else every dash a slash.
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let beside = files.filter_map(|file| read_for_discovery(&file.path(), HEADER_LIMIT)?.cwd);
    if let Some(cwd) = { beside }.find(|cwd| fits(Path::new(cwd))) {
        return cwd;
    }
    let there = find_dir(Path::new("/"), inner);
    there.map_or_else(|| format!("/{}", inner.replace('-', "/")), |cwd| text(&cwd))
}

/// A directory below another one whose path is `name` once slashes are dashes.
fn find_dir(dir: &Path, name: &str) -> Option<PathBuf> {
    if name.is_empty() {
        return Some(dir.to_owned());
    }
    let mut below: Vec<_> = std::fs::read_dir(dir).ok()?.flatten().collect();
    below.sort_by_key(std::fs::DirEntry::file_name);
    below.iter().find_map(|entry| {
        let encoded = entry
            .file_name()
            .to_string_lossy()
            .replace(['\\', ':'], "-");
        let rest = name.strip_prefix(encoded.as_str())?;
        let rest = if rest.is_empty() {
            rest
        } else {
            rest.strip_prefix('-')?
        };
        let is_dir = entry.path().is_dir();
        is_dir.then(|| find_dir(&entry.path(), rest)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_times() {
        assert_eq!(
            time_of_name("2026-01-02T03-04-05-678Z").as_deref(),
            Some("2026-01-02T03:04:05.678Z")
        );
        for name in [
            "",
            "2026-01-02",
            "2026-01-02T03-04-05Z",
            "2026-99-02T03-04-05-678Z",
        ] {
            assert_eq!(time_of_name(name), None, "{name}");
        }
    }

    #[test]
    fn directories_are_found_whatever_dashes_are_in_their_names() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().join("a-b/c/d-e-f");
        std::fs::create_dir_all(&real).unwrap();
        std::fs::create_dir_all(root.path().join("a/b")).unwrap();
        assert_eq!(find_dir(root.path(), "a-b-c-d-e-f"), Some(real));
        assert_eq!(find_dir(root.path(), "a-b-x"), None);
    }
}
