//! Who deals with a conversation: nobody, or a member of the company who may answer it.

use uuid::Uuid;

use super::{Conversations, is_there};
use crate::{Error, Who};
use domain::error::{Code, Refusal};
use store::users::memberships::Member;

impl Conversations<'_> {
    /// The members to whom a conversation may be assigned, by e-mail: those whose role answers, and who may sign in.
    pub async fn assignees(&self) -> Result<Vec<Member>, Error> {
        let mut members = self.members().await?;
        members.retain(Member::answers);
        Ok(members)
    }

    /// Gives a conversation to a member who may answer it, or to nobody.
    ///
    /// # Errors
    ///
    /// `user_not_found` for a user who is no member of the company, `user_cannot_answer` for a member whose role only reads or
    /// who is disabled, `conversation_not_found`.
    pub async fn assign(&self, who: &Who, id: Uuid, to: Option<Uuid>) -> Result<(), Error> {
        if let Some(to) = to {
            check(self.members().await?.iter().find(|member| member.user_id == to))?;
        }
        is_there(self.store().assign(id, to, &who.to_string()).await?)
    }

    async fn members(&self) -> Result<Vec<Member>, Error> {
        let records = self.engine.records_of(self.company).await?;
        Ok(records.of(self.company).members().all().await?)
    }
}

/// Refuses an assignee who could not answer.
fn check(member: Option<&Member>) -> Result<(), Refusal> {
    let Some(member) = member else {
        let what = "is no member of this company: give an e-mail address or the id of a user";
        return Err(Refusal::of("user", Code::UserNotFound, what));
    };
    if member.answers() {
        return Ok(());
    }
    let what = if member.is_disabled {
        "is disabled and cannot sign in: assign the conversation to another member".to_owned()
    } else {
        format!(
            "has the role `{}`, which only reads: assign the conversation to an agent, member or owner",
            member.role
        )
    };
    Err(Refusal::of("user", Code::UserCannotAnswer, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::user::Role;

    #[test]
    fn only_members_who_may_answer_get_a_conversation() {
        let member = |role, is_disabled| Member {
            user_id: Uuid::nil(),
            email: "ana@example.com".to_owned(),
            name: "Ana".to_owned(),
            role,
            has_totp: false,
            is_disabled,
            last_used_at: None,
        };
        let code = |member: Option<Member>| check(member.as_ref()).err().map(|refusal| refusal.code);
        for role in [Role::Owner, Role::Member, Role::Agent] {
            assert_eq!(code(Some(member(role, false))), None, "{role}");
            assert_eq!(code(Some(member(role, true))), Some(Code::UserCannotAnswer), "{role}");
        }
        assert_eq!(code(Some(member(Role::Viewer, false))), Some(Code::UserCannotAnswer));
        assert_eq!(code(None), Some(Code::UserNotFound));
    }
}
