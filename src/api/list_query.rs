//! The query of every list: which page, and what to search for.

use std::borrow::Cow;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::web::Data;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use super::State;
use super::error::Error;
use super::query;
use crate::clock::Timestamp;
use crate::domain::page::{PageRequest, Start, Window, cursor};
use crate::domain::time_span;
use crate::error::Code;
use crate::surface::paths::argument;

/// The longest time that a request waits for a change: proxies give up a request that lasts much longer.
const MOST_WAIT: Duration = Duration::from_secs(60);
/// Records on a page when the client does not say.
const DEFAULT_LIMIT: u64 = 10;

/// Which page to list.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageParameters {
    /// From 1; 1 when absent.
    #[param(value_type = Option<u64>, minimum = 1, default = 1)]
    page: Option<u128>,
    /// Records on a page; 10 when absent.
    #[param(value_type = Option<u64>, minimum = 1, default = 10)]
    limit: Option<u128>,
}

/// Which part of a list with cursors to show.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) struct PartParameters {
    /// From 1; 1 when absent. Records that are added and removed meanwhile move later pages: follow `cursor` to get each
    /// record once.
    #[param(value_type = Option<u64>, minimum = 1, default = 1)]
    page: Option<u128>,
    /// Records on a page; 10 when absent.
    #[param(value_type = Option<u64>, minimum = 1, default = 10)]
    limit: Option<u128>,
    /// The `next_cursor` of the answer before, instead of `page`: the records after those that it had.
    cursor: Option<String>,
}

/// Which part of a list to show.
pub(super) struct Listing<K> {
    /// The list's name, for its cursors.
    pub(super) list: &'static str,
    /// The number of the page.
    pub(super) page: u128,
    /// Records on it.
    pub(super) limit: u64,
    start: Start<K>,
}

impl<K: Copy> Listing<K> {
    /// The records to read: one more than are shown, so that it is known whether others follow.
    pub(super) const fn window(&self) -> Window<K> {
        Window { start: self.start, limit: self.limit.saturating_add(1) }
    }

    /// Where all that follows begins, for an answer that has everything from there on. A page begins none: only a cursor
    /// does.
    pub(super) const fn rest(&self) -> Start<K> {
        match self.start {
            Start::After(key) => Start::After(key),
            Start::Offset(_) => Start::Offset(0),
        }
    }
}

/// What to search for.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchParameter {
    /// Matched anywhere in the text; case and accents are ignored. `%` and `_` are plain characters.
    search: Option<String>,
}

/// The query of the address, read as it is needed.
pub(super) struct Query {
    text: String,
    page_size: u64,
    search_chars: usize,
}

argument!(Query, Error, |request: &HttpRequest| {
    let State { options, .. } = &***request.app_data::<Data<State>>().ok_or(Error::Internal)?;
    let text = request.query_string().to_owned();
    Ok(Self { text, page_size: options.page_size, search_chars: options.search_chars })
});

impl Query {
    /// `page` and `limit`.
    ///
    /// # Errors
    ///
    /// `invalid_pagination` when one is not a positive integer or is over its bound.
    pub(super) fn page(&self) -> Result<PageRequest, Error> {
        let max = self.page_size;
        let PageParameters { page, limit } =
            PageParameters { page: self.positive("page")?, limit: self.positive("limit")? };
        let page = page.unwrap_or(1);
        let limit = limit.unwrap_or_else(|| DEFAULT_LIMIT.min(max).into());
        let limit = u64::try_from(limit)
            .ok()
            .filter(|limit| *limit <= max)
            .ok_or_else(|| invalid_pagination("limit", &format!("is over {max}: read more pages instead")))?;
        Ok(PageRequest { page, limit })
    }

    /// `page`, `limit` and `cursor`, for the list of this name.
    ///
    /// # Errors
    ///
    /// `invalid_pagination` when `page` or `limit` is wrong, when `cursor` is not one of this list, and for both a page
    /// and a cursor.
    pub(super) fn listing<K: DeserializeOwned>(&self, list: &'static str) -> Result<Listing<K>, Error> {
        let request = self.page()?;
        let PageRequest { page, limit } = request;
        let Some(text) = self.text("cursor")? else {
            return Ok(Listing { list, page, limit, start: Start::Offset(request.offset()) });
        };
        if self.positive("page")?.is_some() {
            return Err(Error::refused(Code::InvalidPagination, "give `page` or `cursor`, not both"));
        }
        let (page, key) = cursor::read(list, &text).ok_or_else(other_cursor)?;
        Ok(Listing { list, page, limit, start: Start::After(key) })
    }

    /// `wait`: how long the client waits for a change, if it does.
    ///
    /// # Errors
    ///
    /// `invalid_field` when it is no span of time, or too long.
    pub(super) fn wait(&self) -> Result<Option<Duration>, Error> {
        let Some(text) = self.text("wait")? else { return Ok(None) };
        let wait = time_span::parse(&text).filter(|wait| *wait <= MOST_WAIT);
        wait.map(Some).ok_or_else(|| {
            let most = MOST_WAIT.as_secs();
            let sentence = format!("`wait` must be a span of time of at most {most}s, such as 30s");
            Error::refused(Code::InvalidField, sentence)
        })
    }

    /// The most records of an answer.
    pub(super) const fn most(&self) -> u64 {
        self.page_size
    }

    /// `search`, trimmed; `None` when nothing is left.
    ///
    /// # Errors
    ///
    /// `invalid_field` when it is not text or is too long.
    pub(super) fn search(&self) -> Result<Option<String>, Error> {
        let SearchParameter { search } = SearchParameter { search: self.text("search")? };
        let max = self.search_chars;
        if search.as_ref().is_some_and(|text| text.chars().count() > max) {
            let what = format_args!("is over {max} characters");
            return Err(Error::of("search", Code::InvalidField, what));
        }
        Ok(search)
    }

    /// Another parameter, trimmed; `None` when nothing is left.
    ///
    /// # Errors
    ///
    /// `invalid_field` when it is not text.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        Ok(self.given(name)?.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()))
    }

    /// The values of a parameter that may be given several times, each trimmed, without those of which nothing is left.
    ///
    /// # Errors
    ///
    /// `invalid_field` when one is not text.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Error> {
        let values = query::values(&self.text, name).map_err(|query::Undecodable| undecodable(name))?;
        let values = values.into_iter().map(|value| value.trim().to_owned());
        Ok(values.filter(|value| !value.is_empty()).collect())
    }

    /// The value as it was given; `None` when the parameter is absent.
    fn given(&self, name: &str) -> Result<Option<Cow<'_, str>>, Error> {
        query::value(&self.text, name).map_err(|query::Undecodable| undecodable(name))
    }

    /// A time in RFC 3339; `None` when it is absent.
    ///
    /// # Errors
    ///
    /// `invalid_field` for anything else.
    pub(super) fn moment(&self, name: &str) -> Result<Option<Timestamp>, Error> {
        let moment = self.text(name)?.map(|text| Timestamp::parse(&text)).transpose();
        moment.map_err(|wrong| Error::of(name, Code::InvalidField, wrong))
    }

    /// A parameter that is `true` or `false`; `false` when it is absent.
    ///
    /// # Errors
    ///
    /// `invalid_field` for anything else. A flag without a value is refused, too: a person means `true` by `?dry_run`, and a
    /// program whose variable is empty may mean `false` by `?dry_run=`.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Error> {
        let what = match self.given(name)?.as_deref().map(str::trim) {
            None | Some("false") => return Ok(false),
            Some("true") => return Ok(true),
            Some("") => "has no value: give true or false",
            Some(_) => "must be true or false",
        };
        Err(Error::of(name, Code::InvalidField, what))
    }

    fn positive(&self, name: &str) -> Result<Option<u128>, Error> {
        let refusal = || invalid_pagination(name, "must be a positive integer");
        let Some(value) = query::value(&self.text, name).map_err(|query::Undecodable| refusal())? else {
            return Ok(None);
        };
        if value.is_empty() {
            return Ok(None);
        }
        if !value.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(refusal());
        }
        match value.parse() {
            Ok(0) => Err(refusal()),
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(invalid_pagination(name, "has more digits than any page")),
        }
    }
}

fn undecodable(name: &str) -> Error {
    Error::of(name, Code::InvalidField, "is not percent-encoded UTF-8 text")
}

/// The refusal of a cursor by which the list cannot go on.
pub(super) fn other_cursor() -> Error {
    let what = "is not one of this list: give the `next_cursor` of its last answer, or none to begin with the \
                first record";
    invalid_pagination("cursor", what)
}

fn invalid_pagination(name: &str, what: &str) -> Error {
    Error::of(name, Code::InvalidPagination, what)
}
