//! `--format`: one set of placeholders for all listings, in the manner of git's.

use super::Ui;
use super::record::Record;
use crate::cli::Failure;
use crate::entry::Entry;
use crate::json::Raw;
use crate::time;

/// The placeholders, for manuals: spelling and meaning.
pub(crate) const PLACEHOLDERS: &[(&str, &str)] = &[
    ("%H %(id)", "id"),
    ("%h %(shortId)", "short id"),
    ("%P %(parentId)", "id of the parent"),
    ("%p", "short id of the parent"),
    ("%T %(type)", "type of the entry"),
    ("%r %(role)", "role of the message"),
    ("%t %(timestamp)", "time as stored"),
    ("%at %(time)", "time in Unix milliseconds"),
    ("%ar %(ago)", "how long ago"),
    ("%s %(subject)", "first line of the text"),
    ("%b %(body)", "the text after its first line"),
    ("%B %(text)", "the whole text"),
    ("%l %(label)", "label"),
    ("%d", "label and leaf marks, in brackets"),
    ("%(leaf) %(onPath)", "true or false"),
    ("%m %(model)", "model of an answer"),
    ("%k %(tokens)", "its tokens, all kinds"),
    ("%c %(cost)", "its cost in dollars"),
    ("%(json)", "the object that --json prints"),
    (
        "%n %% %x00",
        "newline, percent sign, a byte by its hex digits",
    ),
    (
        "%C(red) %Creset",
        "colours: black, red, green, yellow, blue, magenta, cyan, white, bold, dim",
    ),
];

/// A template, read.
#[derive(Debug, Clone)]
pub(crate) struct Format(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(String),
    Color(String),
}

impl Format {
    /// Reads a template for entries.
    pub(crate) fn parse(template: &str) -> Result<Format, Failure> {
        Format::parse_with(template, &[])
    }

    /// Reads a template for rows that have further fields.
    pub(crate) fn parse_with(template: &str, fields: &[&str]) -> Result<Format, Failure> {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some(at) = rest.find('%') {
            if at > 0 {
                pieces.push(Piece::Text(rest[..at].to_owned()));
            }
            let (piece, len) = placeholder(&rest[at + 1..], fields).ok_or_else(|| {
                let shown: String = rest[at..].chars().take(3).collect();
                Failure::usage(format!("'--format' does not know '{shown}'"))
                    .hint("the placeholders are listed in pis(1); write %% for a percent sign")
            })?;
            pieces.push(piece);
            rest = &rest[at + 1 + len..];
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Format(pieces))
    }

    /// The row of an entry. `short` shortens ids.
    pub(crate) fn render(
        &self,
        ui: &Ui,
        record: &Record,
        line: &[u8],
        now: i64,
        short: &dyn Fn(&str) -> String,
    ) -> Result<String, Failure> {
        self.fill(ui, &|name| field(name, record, line, now, short))
    }

    /// The row whose fields `field` knows.
    pub(crate) fn fill(
        &self,
        ui: &Ui,
        field: &dyn Fn(&str) -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Color(name) => out.push_str(&ui.painter.start(name).unwrap_or_default()),
                Piece::Field(name) => {
                    let value = field(name)?;
                    if ui.is_terminal() {
                        out.push_str(&super::sanitize::visible_lines(&value));
                    } else {
                        out.push_str(&value);
                    }
                }
            }
        }
        Ok(out)
    }
}

/// The placeholder behind a percent sign, and its length.
fn placeholder(rest: &str, more: &[&str]) -> Option<(Piece, usize)> {
    let field = |name: &str, len| Some((Piece::Field(name.to_owned()), len));
    let text = |text: &str, len| Some((Piece::Text(text.to_owned()), len));
    if let Some(name) = rest.strip_prefix('(') {
        let name = &name[..name.find(')')?];
        let known = is_field(name) || more.contains(&name);
        return known.then(|| (Piece::Field(name.to_owned()), name.len() + 2));
    }
    if let Some(name) = rest.strip_prefix("C(") {
        let name = &name[..name.find(')')?];
        let known = super::style::Painter { color: false }.start(name).is_some();
        return known.then(|| (Piece::Color(name.to_owned()), name.len() + 3));
    }
    if rest.starts_with("Creset") {
        return Some((Piece::Color("reset".to_owned()), 6));
    }
    if let Some(hex) = rest.strip_prefix('x').and_then(|r| r.get(..2)) {
        let byte = u8::from_str_radix(hex, 16).ok().filter(u8::is_ascii)?;
        return text(&char::from(byte).to_string(), 3);
    }
    if rest.starts_with("at") {
        return field("time", 2);
    }
    if rest.starts_with("ar") {
        return field("ago", 2);
    }
    match rest.chars().next()? {
        'H' => field("id", 1),
        'h' => field("shortId", 1),
        'P' => field("parentId", 1),
        'p' => field("shortParentId", 1),
        'T' => field("type", 1),
        'r' => field("role", 1),
        't' => field("timestamp", 1),
        's' => field("subject", 1),
        'b' => field("body", 1),
        'B' => field("text", 1),
        'l' => field("label", 1),
        'd' => field("marks", 1),
        'm' => field("model", 1),
        'k' => field("tokens", 1),
        'c' => field("cost", 1),
        'n' => text("\n", 1),
        '%' => text("%", 1),
        _ => None,
    }
}

fn is_field(name: &str) -> bool {
    matches!(
        name,
        "id" | "shortId"
            | "parentId"
            | "shortParentId"
            | "type"
            | "role"
            | "timestamp"
            | "time"
            | "ago"
            | "subject"
            | "body"
            | "text"
            | "label"
            | "marks"
            | "leaf"
            | "onPath"
            | "model"
            | "tokens"
            | "cost"
            | "json"
    )
}

fn field(
    name: &str,
    record: &Record,
    line: &[u8],
    now: i64,
    short: &dyn Fn(&str) -> String,
) -> Result<String, Failure> {
    let text = record.text.as_deref().unwrap_or_default();
    let (subject, body) = text.split_once('\n').unwrap_or((text, ""));
    let or_empty = |value: &Option<String>| value.clone().unwrap_or_default();
    let usage = || {
        let entry = Entry::new(line);
        entry
            .message()
            .and_then(|m| m.get("usage"))
            .or_else(|| entry.get("usage"))
    };
    Ok(match name {
        "id" => or_empty(&record.id),
        "shortId" => record.id.as_deref().map(short).unwrap_or_default(),
        "parentId" => or_empty(&record.parent_id),
        "shortParentId" => record.parent_id.as_deref().map(short).unwrap_or_default(),
        "type" => record.r#type.clone(),
        "role" => or_empty(&record.role),
        "timestamp" => match &record.timestamp {
            Some(raw) => Raw::new(raw.get().as_bytes()).to_text().into_owned(),
            None => String::new(),
        },
        "time" => record.time.map_or_else(String::new, |t| t.to_string()),
        "ago" => record.time.map_or_else(String::new, |t| time::ago(now, t)),
        "subject" => subject.to_owned(),
        "body" => body.to_owned(),
        "text" => text.to_owned(),
        "label" => or_empty(&record.label),
        "marks" => {
            let label = record.label.as_ref().map(|l| format!("[{l}]"));
            let leaf = record.leaf.then(|| "@".to_owned());
            label.into_iter().chain(leaf).collect::<Vec<_>>().join(" ")
        }
        "leaf" => record.leaf.to_string(),
        "onPath" => record.on_path.to_string(),
        "model" => {
            let message = Entry::new(line).message().unwrap_or_default();
            message.str("model").unwrap_or_default().into_owned()
        }
        "tokens" => usage().map_or_else(String::new, |u| total_tokens(u).to_string()),
        "cost" => usage()
            .and_then(|u| u.get("cost")?.get("total"))
            .map_or_else(String::new, |c| c.to_text().into_owned()),
        "json" => crate::json::to_line(record)?,
        _ => String::new(),
    })
}

/// Tokens of a `usage`: input, output, cache read and cache write, as pi's statistics add them.
fn total_tokens(usage: Raw<'_>) -> f64 {
    let kinds = ["input", "output", "cacheRead", "cacheWrite"];
    kinds.iter().filter_map(|k| usage.get(k)?.as_f64()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_read_to_the_end() {
        let format = Format::parse("%h%x00 100%% %(role)%C(red)x%Creset%n").unwrap();
        let text = |t: &str| Piece::Text(t.to_owned());
        assert_eq!(
            format.0,
            [
                Piece::Field("shortId".into()),
                text("\0"),
                text(" 100"),
                text("%"),
                text(" "),
                Piece::Field("role".into()),
                Piece::Color("red".into()),
                text("x"),
                Piece::Color("reset".into()),
                text("\n"),
            ]
        );
        for bad in ["%", "%q", "%(nope)", "%(id", "%xzz", "%x9b", "%C(pink)"] {
            assert!(Format::parse(bad).is_err(), "{bad}");
        }
    }
}
