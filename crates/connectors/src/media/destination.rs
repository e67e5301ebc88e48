//! Checks whether a file may be fetched from an address, before each request.
//!
//! A host that is an IP address is checked here; a host name is checked when it is resolved
//! ([`crate::guard::Guard`]).

use url::Url;

use super::refusal;
use crate::guard::Networks;
use domain::error::Refusal;

/// The lowest allowed port besides 80 and 443. Lower ports belong to other services (mail, remote shells,
/// file shares), to which a link could make us connect. From here on web servers are common: 3000, 8080,
/// 8443, 9000.
const FIRST_FREE_PORT: u16 = 1024;

/// Checks an address before a request.
///
/// # Errors
///
/// `link_not_allowed`: not http or https, a user name or a password, a port of another service, or an IP
/// address that is not public.
pub(super) fn check(url: &Url, networks: &Networks) -> Result<(), Refusal> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refusal::scheme());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refusal::credentials());
    }
    if !matches!(url.port_or_known_default(), Some(80 | 443 | FIRST_FREE_PORT..)) {
        return Err(refusal::port());
    }
    let host = url.host().ok_or_else(refusal::scheme)?;
    if networks.admit_host(&host) { Ok(()) } else { Err(refusal::not_public()) }
}

/// The target of a redirect. A redirect from https to http is refused: a caller who gave an https link relies
/// on a file that nobody on the way has changed.
///
/// # Errors
///
/// `media_unavailable` when it is no address, `link_not_allowed` when it leads from https to http. The caller
/// checks the target with [`check`].
pub(super) fn next(from: &Url, location: &[u8]) -> Result<Url, Refusal> {
    let location = std::str::from_utf8(location).map_err(|_| refusal::lost_redirect())?;
    let to = from.join(location).map_err(|_| refusal::lost_redirect())?;
    if from.scheme() == "https" && to.scheme() == "http" { Err(refusal::downgrade()) } else { Ok(to) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::error::Code;

    fn judged(text: &str) -> Option<Refusal> {
        let url = Url::parse(text).unwrap();
        check(&url, &Networks::new(Vec::new(), Vec::new(), || Ok(Vec::new()))).err()
    }

    #[test]
    fn a_number_in_any_of_its_written_forms_is_refused_when_it_is_not_public() {
        for text in [
            "http://127.0.0.1/",
            "http://127.0.0.1./",
            "http://127.1/",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://017700000001/",
            "http://0x7f.1/",
            "http://0x7f.0x0.0x0.0x1/",
            "http://0x7f000001/",
            "http://0X7F000001/",
            "http://%31%32%37.0.0.1/",
            "http://127%2e0%2e0%2e1/",
            "http://\u{2460}\u{2461}\u{2466}.\u{24ea}.\u{24ea}.\u{2460}/",
            "http://127\u{3002}0\u{3002}0\u{3002}1/",
            "http://0/",
            "http://0.0.0.0/",
            "http://10.1/",
            "http://0xa9fea9fe/latest/meta-data/",
            "http://2852039166/latest/meta-data/",
            "http://169.254.169.254/latest/meta-data/",
            "http://192.168.257/",
            "http://[::1]/",
            "http://[::]/",
            "http://[0:0:0:0:0:0:0:1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::127.0.0.1]/",
            "http://[2002:7f00:1::]/",
            "http://[fd00:ec2::254]/",
            "http://[fe80::1]/",
        ] {
            assert_eq!(judged(text), Some(refusal::not_public()), "{text}");
        }
    }

    #[test]
    fn a_public_number_and_any_name_may_be_asked() {
        for text in [
            "http://8.8.8.8/a.jpg",
            "https://[2a00:1450::1]/a.jpg",
            "https://example.com/a.jpg?x=1#y",
            "https://example.com:8443/",
            "http://example.com:1024/",
            "http://example.com:443/",
            "http://localhost/",
        ] {
            assert_eq!(judged(text), None, "{text}");
        }
    }

    #[test]
    fn other_schemes_ports_of_other_services_and_credentials_are_refused() {
        for text in
            ["ftp://8.8.8.8/", "file:///etc/passwd", "gopher://8.8.8.8:8080/", "data:,x", "ws://8.8.8.8/"]
        {
            assert_eq!(judged(text), Some(refusal::scheme()), "{text}");
        }
        for text in
            ["http://example.com:22/", "https://8.8.8.8:25/", "http://example.com:1023/", "http://8.8.8.8:0/"]
        {
            assert_eq!(judged(text), Some(refusal::port()), "{text}");
        }
        for text in ["http://user@example.com/", "https://user:word@8.8.8.8/", "https://:word@example.com/"] {
            assert_eq!(judged(text), Some(refusal::credentials()), "{text}");
        }
    }

    #[test]
    fn a_redirect_leads_where_it_says_and_never_from_https_to_http() {
        let from = |text| Url::parse(text).unwrap();
        let to = |start, location: &str| next(&from(start), location.as_bytes()).map(String::from);
        assert_eq!(to("https://a.example/x/y?z", "../b.jpg"), Ok("https://a.example/b.jpg".to_owned()));
        assert_eq!(to("http://a.example/x", "//b.example/y"), Ok("http://b.example/y".to_owned()));
        assert_eq!(to("http://a.example/x", "https://a.example/x"), Ok("https://a.example/x".to_owned()));
        assert_eq!(to("https://a.example/x", "http://a.example/x"), Err(refusal::downgrade()));
        assert_eq!(to("https://a.example/x", "http://[::"), Err(refusal::lost_redirect()));
        let broken = next(&from("https://a.example/x"), b"/\xff").unwrap_err();
        assert_eq!(broken.code, Code::MediaUnavailable);
    }
}
