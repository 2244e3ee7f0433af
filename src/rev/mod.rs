//! Revisions: how to say which entry is meant. [`syntax`] reads the words, [`resolve`] finds the
//! entries, [`range`] the entries between two.

pub mod range;
pub mod resolve;
pub mod syntax;

/// The names that are spelled most like a word, best first; none that is far off.
pub fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let word = word.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(&word, &name.to_lowercase()), name))
        .filter(|(score, _)| *score > 0.85)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.dedup_by_key(|(_, name)| *name);
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}
