//! Labels: pi's bookmarks. They are global to a file, one an entry, the last one set counts.

use hashbrown::HashMap;

use crate::entry::{self, Entry};

/// A label as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The id of the entry it is on, which need not exist.
    pub target: String,
    /// Its name.
    pub name: String,
    /// When it was last set, as stored; empty where that is no string.
    pub timestamp: String,
}

/// All labels of a file.
#[derive(Debug, Default)]
pub struct Labels {
    /// In the order in which targets got a label since they were last cleared, which is the order
    /// in which pi makes them again in a clone. Cleared ones leave a gap.
    slots: Vec<Option<Label>>,
    places: HashMap<String, usize>,
}

impl Labels {
    /// Takes in the next `label` entry of the file.
    pub(crate) fn apply(&mut self, label: Entry<'_>) {
        let target = label
            .get("targetId")
            .map(|t| t.to_text().into_owned())
            .unwrap_or_default();
        let name = entry::text(label);
        if !label.get("label").is_some_and(crate::json::Raw::is_truthy) {
            if let Some(place) = self.places.remove(&target) {
                self.slots[place] = None;
            }
            return;
        }
        let timestamp = label
            .raw()
            .str("timestamp")
            .unwrap_or_default()
            .into_owned();
        let set = Label {
            target: target.clone(),
            name,
            timestamp,
        };
        match self.places.get(&target) {
            Some(&place) => self.slots[place] = Some(set),
            None => {
                self.places.insert(target, self.slots.len());
                self.slots.push(Some(set));
            }
        }
    }

    /// The label on the entry with an id.
    pub fn of(&self, id: &str) -> Option<&Label> {
        self.places
            .get(id)
            .and_then(|&place| self.slots[place].as_ref())
    }

    /// All labels, in the order in which their targets first got one.
    pub fn iter(&self) -> impl Iterator<Item = &Label> {
        self.slots.iter().flatten()
    }
}
