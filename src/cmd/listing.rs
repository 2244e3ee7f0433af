//! Rows of entries in whichever form was asked for: plain, `--json` or `--format`.

use std::borrow::Cow;

use crate::cli::{Context, Exit, Failure};
use crate::rev::syntax::quote_name;
use crate::session::Session;
use crate::store::index::Ix;
use crate::ui::format::Format;
use crate::ui::record::{Marks, Record};
use crate::ui::rows::Shortener;

/// An id or label as plain rows hold it: as it is, or as a JSON string where it would not read
/// back as one word.
pub(crate) fn plain(name: &str) -> Cow<'_, str> {
    quote_name(name)
}

/// The form of a listing that is not the command's own.
#[derive(Debug)]
pub(crate) enum Listing {
    Json,
    Format(Format, Shortener),
}

impl Listing {
    /// The form that the options ask for, if they ask for one.
    pub(crate) fn of(context: &Context, session: &Session) -> Result<Option<Listing>, Failure> {
        if context.json() {
            return Ok(Some(Listing::Json));
        }
        let Some(template) = context.format() else {
            return Ok(None);
        };
        Ok(Some(Listing::Format(
            Format::parse(template)?,
            Shortener::new(session, 8),
        )))
    }

    /// Prints the row of an entry. `extend` may add fields to the JSON object.
    pub(crate) fn row<T: serde::Serialize>(
        &self,
        context: &mut Context,
        session: &Session,
        ix: Ix,
        marks: &Marks,
        extend: impl FnOnce(Record) -> T,
    ) -> Result<(), Failure> {
        let line = session.line(ix)?;
        let record = Record::new(session, ix, &line, marks)?;
        match self {
            Listing::Json => context.ui.json_row(&extend(record))?,
            Listing::Format(format, short) => {
                let now = context.now;
                let row = format.render(&context.ui, &record, &line, now, &|id| short.short(id))?;
                context.ui.row(&row)?;
            }
        }
        Ok(())
    }

    /// The form that `--format` asks for; commands with a JSON shape of their own use this.
    pub(crate) fn format_only(
        context: &Context,
        session: &Session,
    ) -> Result<Option<Listing>, Failure> {
        if context.json() {
            Ok(None)
        } else {
            Listing::of(context, session)
        }
    }

    /// Prints a row for each of the entries.
    pub(crate) fn all(
        &self,
        context: &mut Context,
        session: &Session,
        entries: &[Ix],
    ) -> Result<Exit, Failure> {
        let marks = Marks::all(session)?;
        for &ix in entries {
            self.row(context, session, ix, &marks, |record| record)?;
        }
        Ok(Exit::Yes)
    }
}
