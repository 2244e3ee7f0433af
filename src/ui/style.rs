//! Styles by meaning, in one table. Output is complete without them.

use owo_colors::{AnsiColors, Style};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Ordinary text.
    Plain,
    /// What stands back: another branch, an age.
    Dim,
    /// The id of an entry.
    Id,
    /// What the user said.
    User,
    /// What the model said.
    Assistant,
    /// A tool's result, a bash run.
    Tool,
    /// System messages, summaries, settings.
    Meta,
    /// A label.
    Label,
    /// Where the leaf is.
    Leaf,
    /// A heading, or what is strongly emphasised.
    Strong,
    /// What is emphasised.
    Emphasis,
    /// Code inside of a text.
    Code,
    /// The address of a link.
    Link,
    /// A line that was taken out, and the words in it that changed.
    Removed,
    RemovedWord,
    /// A line that was put in, and the words in it that changed.
    Added,
    AddedWord,
    /// What failed.
    Failed,
    /// What a search found.
    Match,
}

fn style(mark: Mark) -> Style {
    let color = |color| Style::new().color(color);
    match mark {
        Mark::Plain => Style::new(),
        Mark::Dim => Style::new().dimmed(),
        Mark::Id => color(AnsiColors::Yellow),
        Mark::User | Mark::Leaf => color(AnsiColors::Cyan).bold(),
        Mark::Assistant | Mark::Added => color(AnsiColors::Green),
        Mark::Tool => color(AnsiColors::Blue),
        Mark::Meta => color(AnsiColors::Magenta),
        Mark::Label => color(AnsiColors::Yellow).bold(),
        Mark::Strong => Style::new().bold(),
        Mark::Emphasis => Style::new().italic(),
        Mark::Code => color(AnsiColors::Cyan),
        Mark::Link => color(AnsiColors::Blue).underline(),
        Mark::Removed => color(AnsiColors::Red),
        Mark::RemovedWord => color(AnsiColors::Red).reversed(),
        Mark::AddedWord => color(AnsiColors::Green).reversed(),
        Mark::Failed | Mark::Match => color(AnsiColors::Red).bold(),
    }
}

/// Turns marks into escape sequences, or leaves text alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Painter {
    /// Whether there is colour at all.
    pub(crate) color: bool,
}

impl Painter {
    /// The text in the style of a mark.
    pub(crate) fn paint(self, mark: Mark, text: &str) -> String {
        if !self.color || text.is_empty() || mark == Mark::Plain {
            return text.to_owned();
        }
        style(mark).style(text).to_string()
    }

    /// The text in a colour named as in git's `%C(…)`; unknown names paint nothing.
    pub(crate) fn start(self, name: &str) -> Option<String> {
        let code = match name.trim_start_matches("auto,") {
            "reset" => "0",
            "bold" => "1",
            "dim" => "2",
            "italic" => "3",
            "ul" => "4",
            "reverse" => "7",
            "black" => "30",
            "red" => "31",
            "green" => "32",
            "yellow" => "33",
            "blue" => "34",
            "magenta" => "35",
            "cyan" => "36",
            "white" => "37",
            _ => return None,
        };
        Some(if self.color {
            format!("\u{1b}[{code}m")
        } else {
            String::new()
        })
    }
}
