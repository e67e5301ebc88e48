//! Devices that people signed in on before: each has a random token in a cookie, whose hash is stored with the person.

use super::backoff::Place;
use super::{Accounts, Origin, Result, User};
use domain::secret::Secret;
use vault::api_key;

/// Devices that people signed in on before.
#[derive(Clone, Copy)]
pub(super) struct Devices<'a>(pub(super) &'a Accounts);

impl Devices<'_> {
    /// Where an attempt at the account of this e-mail is made.
    pub(super) async fn place_of(self, email: &str, origin: &Origin) -> Result<Place> {
        let Some(device) = origin.device else { return Ok(Place::Unknown(origin.address)) };
        let person = self.0.store().users().person_of_device(email, &device).await?;
        Ok(person.map_or(Place::Unknown(origin.address), |user_id| Place::Device { user_id, device }))
    }

    /// Remembers the device of a person who has just signed in. Returns the token of a device that had none.
    ///
    /// A token that nobody signed in with is replaced: somebody else may have put it there.
    pub(super) async fn remember(self, user: &User, origin: &Origin) -> Option<Secret> {
        let remembered = async {
            let known = match origin.device {
                Some(device) if self.0.store().users().is_device(&device).await? => Some(device),
                _ => None,
            };
            let token = known.is_none().then(api_key::generate_token);
            let fresh = token.as_ref().map(|token| api_key::hash(token.expose()));
            if let Some(device) = known.or(fresh) {
                self.0.store().users().remember_device(user.id, &device).await?;
            }
            Ok::<_, store::Error>(token)
        };
        // The person is signed in: only the next sign-in has no allowance of its own.
        remembered.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the device of a sign-in cannot be remembered");
            None
        })
    }
}
