//! The query of every list: which page, and what to search for.

use actix_web::HttpRequest;
use actix_web::web::Data;
use utoipa::IntoParams;

use super::State;
use super::error::Error;
use super::query;
use crate::clock::Timestamp;
use crate::domain::page::PageRequest;
use crate::error::Code;
use crate::surface::paths::argument;

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
            .ok_or_else(|| invalid_pagination(format!("`limit` is over {max}: read more pages instead")))?;
        Ok(PageRequest { page, limit })
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
            return Err(Error::refused(Code::InvalidField, format!("`search` is over {max} characters")));
        }
        Ok(search)
    }

    /// Another parameter, trimmed; `None` when nothing is left.
    ///
    /// # Errors
    ///
    /// `invalid_field` when it is not text.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        let value = query::value(&self.text, name).map_err(|query::Undecodable| {
            Error::refused(Code::InvalidField, format!("`{name}` is not percent-encoded UTF-8 text"))
        })?;
        Ok(value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()))
    }

    /// A time in RFC 3339; `None` when it is absent.
    ///
    /// # Errors
    ///
    /// `invalid_field` for anything else.
    pub(super) fn moment(&self, name: &str) -> Result<Option<Timestamp>, Error> {
        let moment = self.text(name)?.map(|text| Timestamp::parse(&text)).transpose();
        moment.map_err(|wrong| Error::refused(Code::InvalidField, format!("`{name}` {wrong}")))
    }

    /// A parameter that is `true` or `false`; `false` when it is absent.
    ///
    /// # Errors
    ///
    /// `invalid_field` for anything else.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Error> {
        match self.text(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Error::refused(Code::InvalidField, format!("`{name}` must be true or false"))),
        }
    }

    fn positive(&self, name: &str) -> Result<Option<u128>, Error> {
        let refusal = || invalid_pagination(format!("`{name}` must be a positive integer"));
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
            Err(_) => Err(invalid_pagination(format!("`{name}` has more digits than any page"))),
        }
    }
}

fn invalid_pagination(sentence: String) -> Error {
    Error::refused(Code::InvalidPagination, sentence)
}
