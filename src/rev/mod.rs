//! Revisions: how to say which entry is meant. [`syntax`] reads the words, [`resolve`] finds the
//! entries, [`range`] the entries between two.

pub mod range;
pub mod resolve;
pub mod syntax;

/// The names that are spelled most like a word, best first; none that is far off.
pub fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let word = word.to_lowercase();
    let score = |name: &str| {
        let name = name.to_lowercase();
        // Two letters that changed places are far apart for the one measure in a short word.
        let is_slip = name.len() > 2 && strsim::osa_distance(&word, &name) == 1;
        strsim::jaro_winkler(&word, &name).max(if is_slip { 0.9 } else { 0.0 })
    };
    let mut scored: Vec<(f64, &str)> = names
        .map(|name| (score(name), name))
        .filter(|(score, _)| *score > 0.85)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.dedup_by_key(|(_, name)| *name);
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}
