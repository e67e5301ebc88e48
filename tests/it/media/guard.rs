//! Addresses to which links may lead, and that no forbidden host gets a request.

use std::net::IpAddr;
use std::process::Command;
use std::sync::Arc;

use pombo::config;
use pombo::connector::media::{Fetcher, Kind, Lookup};
use pombo::error::{Code, Refusal};
use url::Url;

use super::host::{Host, Step, ok, to};
use super::names::Names;
use super::{COMPANY, code, fetch, fetcher, options};

/// Without permission to fetch from this machine, which is the default.
fn strict() -> config::Media {
    config::Media { allow: Vec::new(), ..options() }
}

async fn refused(options: &config::Media, names: &Arc<Names>, link: &str) -> Refusal {
    let refusal = fetcher(options, names)
        .fetch(COMPANY, &Url::parse(link).unwrap(), Kind::Document)
        .await
        .expect_err(link);
    assert_eq!(refusal.code, Code::LinkNotAllowed, "{link}");
    refusal
}

#[tokio::test]
async fn this_machine_by_any_number_is_not_asked() {
    let host = Host::body("", b"secret").await;
    for written in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f.1",
        "0x7f000001",
        "0",
        "%31%32%37.0.0.1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
    ] {
        let refusal = refused(&strict(), &Names::none(), &host.link_as(written, "/")).await;
        assert!(!refusal.sentence.contains(|c: char| c.is_ascii_digit()), "{}", refusal.sentence);
    }
    assert_eq!(host.connections(), 0);
}

#[tokio::test]
async fn this_machine_by_the_system_s_own_name_is_not_asked() {
    let host = Host::body("", b"secret").await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let fetched = Fetcher::new(&strict()).unwrap();
    let link = Url::parse(&host.link_as("localhost", "/")).unwrap();
    assert_eq!(code(fetched.fetch(COMPANY, &link, Kind::Document).await), Code::LinkNotAllowed);
    assert_eq!(host.connections(), 0);
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_and_tells_nothing_of_where() {
    let names = Names::new(&[
        ("private.example", &[&["10.1.2.3"]]),
        ("loopback.example", &[&["127.0.0.1"]]),
        ("metadata.example", &[&["169.254.169.254"]]),
        ("unique-local.example", &[&["fd00:ec2::254"]]),
        ("mapped.example", &[&["::ffff:10.1.2.3"]]),
        ("translated.example", &[&["64:ff9b::a01:203"]]),
        ("both.example", &[&["8.8.8.8", "10.1.2.3"]]),
    ]);
    let host = Host::body("", b"secret").await;
    for name in ["private", "loopback", "metadata", "unique-local", "mapped", "translated", "both"] {
        let refusal = refused(&strict(), &names, &host.link_as(&format!("{name}.example"), "/x")).await;
        assert!(!refusal.sentence.contains(|c: char| c.is_ascii_digit()), "{}", refusal.sentence);
    }
    assert_eq!(host.connections(), 0);
}

#[tokio::test]
async fn a_public_address_of_this_machine_is_not_asked() {
    let names = Names::new(&[("own.example", &[&["8.8.8.8"]]), ("other.example", &[&["127.0.0.1"]])]);
    names.own(&["8.8.4.4", "8.8.8.8"]);
    for host in ["8.8.8.8", "own.example", "[64:ff9b::808:808]"] {
        refused(&options(), &names, &format!("http://{host}:8080/")).await;
    }
    let host = Host::new(|_| to("http://8.8.8.8:8080/")).await;
    refused(&options(), &names, &host.link("/")).await;
    assert_eq!(host.connections(), 1);
}

#[test]
fn the_system_tells_the_machine_s_own_addresses() {
    struct Nobody;
    #[async_trait::async_trait]
    impl Lookup for Nobody {
        async fn addresses(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
            Ok(Vec::new())
        }
    }
    assert!(Nobody.own_addresses().unwrap().contains(&IpAddr::from([127, 0, 0, 1])));
}

#[tokio::test]
async fn a_refused_network_is_refused_though_it_is_allowed() {
    let host = Host::body("", b"secret").await;
    let refusing = config::Media { refuse: vec!["127.0.0.0/8".parse().unwrap()], ..options() };
    refused(&refusing, &Names::none(), &host.link("/")).await;
    assert_eq!(host.connections(), 0);
}

#[tokio::test]
async fn an_allowed_network_does_not_open_the_others() {
    let names =
        Names::new(&[("both.example", &[&["127.0.0.1", "10.1.2.3"]]), ("own.example", &[&["127.0.0.1"]])]);
    let host = Host::body("", b"fine").await;
    refused(&options(), &names, &host.link_as("both.example", "/")).await;
    refused(&options(), &names, &host.link_as("10.1.2.3", "/")).await;
    refused(&options(), &names, &host.link_as("[::1]", "/")).await;
    assert_eq!(host.connections(), 0);
    let link = Url::parse(&host.link_as("own.example", "/")).unwrap();
    let media = fetcher(&options(), &names).fetch(COMPANY, &link, Kind::Document).await.unwrap();
    assert_eq!(media.bytes, b"fine");
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_judged_each_time_and_asked_once_for_each_connection() {
    let only_first = config::Media { allow: vec!["127.0.0.1/32".parse().unwrap()], ..options() };
    let names = Names::new(&[("rebinding.example", &[&["127.0.0.1"], &["127.0.0.2"]])]);
    let open =
        Host::new(|path| if path == "/again" { to("/file") } else { vec![Step::Send(ok("", b"fine"))] })
            .await;
    let closed = Host::at(("127.0.0.2", open.address.port()), |_| vec![Step::Send(ok("", b"secret"))]).await;

    let fetcher = fetcher(&only_first, &names);
    let link = Url::parse(&open.link_as("rebinding.example", "/file")).unwrap();
    assert_eq!(fetcher.fetch(COMPANY, &link, Kind::Document).await.unwrap().bytes, b"fine");
    assert_eq!(names.asked().len(), 1);
    assert_eq!(code(fetcher.fetch(COMPANY, &link, Kind::Document).await), Code::LinkNotAllowed);
    assert_eq!(names.asked().len(), 2);

    // The same within one fetch: the host redirects to itself, and its name has another address meanwhile.
    let names = Names::new(&[("rebinding.example", &[&["127.0.0.1"], &["127.0.0.2"]])]);
    refused(&only_first, &names, &open.link_as("rebinding.example", "/again")).await;
    assert_eq!((open.connections(), closed.connections(), names.asked().len()), (2, 0, 2));
}

#[tokio::test]
async fn a_redirect_leads_nowhere_that_a_link_may_not_lead() {
    let names = Names::new(&[("inside.example", &[&["10.1.2.3"]])]);
    let other = Host::at("[::1]:0", |_| vec![Step::Send(ok("", b"secret"))]).await;
    for location in [
        "http://10.1.2.3/".to_owned(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://inside.example/".to_owned(),
        "//inside.example/".to_owned(),
        other.link("/"),
        other.link_as("[0:0::0:1]", "/"),
        "http://0xa9fea9fe/".to_owned(),
        "http://user:word@127.0.0.1:8080/".to_owned(),
        "http://127.0.0.1:22/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "gopher://127.0.0.1:8080/_x".to_owned(),
        "data:text/plain,x".to_owned(),
    ] {
        let host = Host::new(move |_| to(&location)).await;
        refused(&options(), &names, &host.link("/")).await;
        assert_eq!(host.connections(), 1);
    }
    assert_eq!(other.connections(), 0);
}

/// A host that redirects from each number to the next lower one, and has the file at 0.
async fn staircase() -> Host {
    let answer = |path: &str| match path[1..].parse::<usize>() {
        Ok(0) => vec![Step::Send(ok("", b"the bottom"))],
        Ok(steps) => to(&format!("{}", steps - 1)),
        Err(_) => to("/round"),
    };
    Host::new(answer).await
}

#[tokio::test]
async fn five_redirects_are_followed_and_no_more() {
    let host = staircase().await;
    assert_eq!(fetch(&host.link("/5"), Kind::Document).await.unwrap().bytes, b"the bottom");
    assert_eq!(host.connections(), 6);
    let refusal = fetch(&host.link("/6"), Kind::Document).await.unwrap_err();
    assert_eq!(refusal.code, Code::MediaUnavailable);
    assert!(refusal.sentence.contains("more than 5 times"), "{}", refusal.sentence);
    assert_eq!(code(fetch(&host.link("/round"), Kind::Document).await), Code::MediaUnavailable);
    assert_eq!(host.connections(), 6 + 6 + 6);
}

#[tokio::test]
async fn a_redirect_to_no_address_is_an_unusable_link() {
    for headers in ["Location: http://[::\r\n", "Location: http://\r\n", ""] {
        let host = Host::steps(super::host::bare(301, headers)).await;
        assert_eq!(code(fetch(&host.link("/"), Kind::Document).await), Code::MediaUnavailable, "{headers}");
    }
}

#[tokio::test]
async fn credentials_and_other_schemes_are_refused_before_anybody_is_asked() {
    let host = Host::body("", b"x").await;
    let with_word = host.link_as("user:word@127.0.0.1", "/");
    for link in [with_word.as_str(), "ftp://127.0.0.1/x", "http://127.0.0.1:25/"] {
        refused(&options(), &Names::none(), link).await;
    }
    assert_eq!(host.connections(), 0);
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_not_asked() {
    const CHILD: &str = "POMBO_TEST_BEHIND_A_PROXY";
    const NAME: &str = "media::guard::a_proxy_of_the_environment_is_not_asked";
    let host = Host::body("", b"direct").await;
    if std::env::var_os(CHILD).is_some() {
        assert_eq!(fetch(&host.link("/"), Kind::Document).await.unwrap().bytes, b"direct");
        return;
    }
    // Only another process can have another environment.
    let proxy = host.link("");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", NAME]).env(CHILD, "1");
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(name, &proxy);
    }
    for name in ["NO_PROXY", "no_proxy", "REQUEST_METHOD"] {
        child.env_remove(name);
    }
    let output = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(host.connections(), 0);
}
