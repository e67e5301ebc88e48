//! Authentication of operators.

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};
use futures_util::future::LocalBoxFuture;

use crate::api::State;
use crate::api::auth::bearer;
use crate::api::error::Error;
use crate::api::parameters;
use crate::engine::Who;
use crate::error::Code;
use crate::surface::body::Sender;
use crate::surface::paths::Argument;

/// The operator whose valid key the request carries. A handler that takes an `Operator` is not called
/// otherwise.
#[derive(Debug, Clone)]
pub(in crate::api) struct Operator {
    name: String,
}

impl Operator {
    /// The operator's name in the record of changes.
    pub(super) fn who(&self) -> Who {
        Who::Operator(self.name.clone())
    }
}

impl Argument for Operator {}

impl FromRequest for Operator {
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let key = bearer(request.headers()).ok_or_else(|| {
                let sentence = "give the Authorization header once, as `Bearer <operator's key>`";
                Error::refused(Code::InvalidAuthHeader, sentence)
            })?;
            let state = request.app_data::<Data<State>>().ok_or(Error::Internal)?;
            let name = state.engine.authenticate_operator(key).await?.ok_or_else(|| {
                let sentence = "this operator's key is unknown, revoked or expired; a company's key is not \
                                valid here";
                Error::refused(Code::InvalidApiKey, sentence)
            })?;
            request.extensions_mut().insert(Sender::Operator);
            parameters::check(&request)?;
            Ok(Self { name })
        })
    }
}
