//! The codes of a channel's `status_reason`.

use crate::words::explained;

explained! {
    /// Why a channel is not connected, or is restricted. The words are part of the contract and never change.
    pub enum ReasonCode {
        /// The provider refused the token, its permissions, or the number's registration.
        CredentialsRefused = "credentials_refused",
            "Reconnect the channel with a new token: `pombo channel reconnect CHANNEL --token-file FILE`, or the channel's page.";
        /// The provider restricted or locked the business account, or its payment failed.
        AccountRestricted = "account_restricted",
            "Settle it with the provider. A new token does not help.";
        /// The stored token cannot be opened, for example because the sealing key is gone.
        NoUsableToken = "no_usable_token",
            "Restore the key file, or reconnect the channel with a token.";
        /// The device was removed on the phone, or WhatsApp unlinked it. Its keys are deleted.
        LoggedOut = "logged_out",
            "Pair the channel again.";
        /// WhatsApp locked the account and unlinked the device. Its keys are deleted.
        AccountLocked = "account_locked",
            "Settle it on the phone, then pair the channel again.";
        /// No pairing code was used in time.
        QrExpired = "qr_expired",
            "Start the pairing again for new codes.";
        /// WhatsApp asked for a passkey while the phone was linked, and no answer came in time.
        PasskeyTimedOut = "passkey_timed_out",
            "Start the pairing again with the passkey at hand, or remove the passkey on the phone first.";
        /// WhatsApp did not accept the answer of the passkey.
        PasskeyRefused = "passkey_refused",
            "Start the pairing again and use a passkey of this account.";
        /// The phone refused the device, as business accounts with hosted devices do.
        BusinessPairingRefused = "business_pairing_refused",
            "Unlink the hosted devices on the phone, then pair the channel again.";
        /// The phone could not be linked.
        PairingFailed = "pairing_failed",
            "Start the pairing again.";
        /// The same linked device connected from elsewhere.
        Replaced = "replaced",
            "Stop the other program, then run `pombo channel pair CHANNEL`; no new code is needed.";
        /// WhatsApp refused the connection.
        ConnectionRefused = "connection_refused",
            "Run `pombo channel pair CHANNEL`; no new code is needed.";
        /// The stored keys belong to no linked phone, for example after an old backup was restored. The keys are kept.
        LinkLost = "link_lost",
            "Restore the newest keys, or unlink the device on the phone and pair the channel again.";
        /// WhatsApp does not accept this version of the program any more. The phone stays linked.
        ClientOutdated = "client_outdated",
            "Install a newer version; the channel then connects by itself.";
        /// WhatsApp blocks the account for some time.
        Banned = "banned",
            "Nothing: the channel connects by itself when the time is over.";
        /// WhatsApp cannot be reached.
        Unreachable = "unreachable",
            "Nothing: Pombo keeps trying. If it lasts, look at the network.";
        /// The session failed by a fault of its own.
        SessionFailed = "session_failed",
            "Nothing: the session is opened again within 15 minutes. If it comes back, report it with the log.";
        /// The channel is connected, but WhatsApp refuses messages to people who never wrote to it (463).
        Restricted = "restricted",
            "Send nothing to strangers for some days. Pombo refuses such messages for 24 hours.";
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_has_a_word_of_its_own() {
        let words: HashSet<_> = ReasonCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), ReasonCode::ALL.len());
    }
}
