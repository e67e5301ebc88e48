//! A browser without script: it keeps cookies, sends the origin of a form, and finds fields and texts in a
//! page.

use std::cell::RefCell;
use std::collections::BTreeMap;

use reqwest::{Method, RequestBuilder};

use crate::harness::{Answer, Service};

pub(crate) struct Browser<'a> {
    service: &'a Service,
    cookies: RefCell<BTreeMap<String, String>>,
    language: &'static str,
}

impl<'a> Browser<'a> {
    /// Nobody is signed in.
    pub(crate) fn new(service: &'a Service) -> Self {
        Self { service, cookies: RefCell::default(), language: "en" }
    }

    /// With the cookie of a session.
    pub(crate) fn with_session(service: &'a Service, token: &str) -> Self {
        let browser = Self::new(service);
        browser.cookies.borrow_mut().insert("pombo_session".to_owned(), token.to_owned());
        browser
    }

    /// The same browser, set to another language.
    pub(crate) fn reading(mut self, language: &'static str) -> Self {
        self.language = language;
        self
    }

    /// The value of a cookie.
    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.borrow().get(name).cloned()
    }

    /// The origin of this browser's pages.
    pub(crate) fn origin(&self) -> &str {
        self.service.url()
    }

    /// A request with the cookies, to be completed by the test.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let cookies: Vec<_> =
            self.cookies.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = self.service.request(method, path).header("accept-language", self.language);
        if cookies.is_empty() { request } else { request.header("cookie", cookies.join("; ")) }
    }

    /// The answer to a request; its cookies are kept.
    pub(crate) async fn ask(&self, request: RequestBuilder) -> Answer {
        let answer = Answer::to(request).await;
        self.keep(&answer.cookies);
        answer
    }

    fn keep(&self, cookies: &[String]) {
        for (name, rest) in cookies.iter().filter_map(|cookie| cookie.split_once('=')) {
            let value = rest.split(';').next().unwrap_or_default().to_owned();
            if value.is_empty() {
                self.cookies.borrow_mut().remove(name);
            } else {
                self.cookies.borrow_mut().insert(name.to_owned(), value);
            }
        }
    }

    /// The head of an answer, whose cookies are kept: a stream's body has no end.
    pub(crate) async fn head(&self, request: RequestBuilder) -> (u16, String) {
        let answer = request.send().await.unwrap();
        let all =
            |name| answer.headers().get_all(name).iter().map(|value| value.to_str().unwrap().to_owned());
        self.keep(&all("set-cookie").collect::<Vec<_>>());
        (answer.status().as_u16(), all("location").next().unwrap_or_default())
    }

    /// A page, whatever its status.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(self.request(Method::GET, path)).await
    }

    /// A page, which must exist.
    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    /// Sends a form from a page of the same origin.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.ask(self.form(path, fields).header("origin", self.origin())).await
    }

    /// Sends a form as [`Browser::post`] does. The answer to a check has an address of its own, and is read there.
    pub(crate) async fn check(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.post(path, fields).await;
        let is_kept = answer.status == 303 && answer.header("location").contains("?kept=");
        if is_kept { self.get(answer.header("location")).await } else { answer }
    }

    /// A form's request, without its origin.
    pub(crate) fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.request(Method::POST, path)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body)
    }

    /// Sends a form, follows its redirect, and returns the page there.
    pub(crate) async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.post(path, fields).await;
        assert_eq!(answer.status, 303, "{path}: {}", answer.body);
        self.page(answer.header("location")).await
    }
}

/// The value of the hidden or visible input of this name in a page.
pub(crate) fn value_of(page: &str, name: &str) -> Option<String> {
    let mark = format!("name=\"{name}\"");
    let tag = page.split('<').find(|tag| tag.starts_with("input") && tag.contains(&mark))?;
    let value = tag.split("value=\"").nth(1)?.split('"').next()?;
    Some(value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}
