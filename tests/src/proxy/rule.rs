//! What goes wrong, and when.

use http::Method;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It never arrives, and the connection breaks.
    LoseRequest,
    /// It is carried out, and the connection breaks before the answer.
    LoseAnswer,
    /// It never arrives, and nothing is said.
    Swallow,
    /// It is carried out, and nothing is said.
    SwallowAnswer,
    /// It never arrives, and is answered with this status.
    Answer(u16),
}

/// A fault, and the requests that it strikes.
#[derive(Clone, Debug)]
#[must_use = "give it to Proxy::add"]
pub struct Rule {
    fault: Fault,
    path: String,
    reads: bool,
    skip: usize,
    times: usize,
    is_last: bool,
    struck: usize,
}

/// A request, as far as rules look at it.
pub(super) struct Request<'r> {
    pub(super) method: &'r Method,
    /// With the query.
    pub(super) path: &'r str,
}

/// A fault that strikes the next write, once, unless told otherwise.
pub fn rule(fault: Fault) -> Rule {
    Rule { fault, path: String::new(), reads: false, skip: 0, times: 1, is_last: false, struck: 0 }
}

impl Rule {
    /// Only requests with this in their path or query.
    pub fn on(mut self, path: &str) -> Self {
        self.path = path.to_owned();
        self
    }

    /// Reads instead of writes.
    pub fn reads(mut self) -> Self {
        self.reads = true;
        self
    }

    /// So many of them get through before.
    pub fn skip(mut self, requests: usize) -> Self {
        self.skip = requests;
        self
    }

    /// So many are struck.
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// After that nothing gets through any more.
    pub fn and_cut(mut self) -> Self {
        self.is_last = true;
        self
    }

    /// How often it has struck.
    pub(super) fn struck(&self) -> usize {
        self.struck
    }

    /// What happens to `request`, and whether that is the end.
    pub(super) fn judge(&mut self, request: &Request<'_>) -> Option<(Fault, bool)> {
        let speaks = if self.reads { request.is_read() } else { request.is_counted() };
        if !speaks || !request.path.contains(&self.path) || self.struck == self.times {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        self.struck += 1;
        Some((self.fault, self.is_last && self.struck == self.times))
    }
}

impl Request<'_> {
    fn is_read(&self) -> bool {
        self.method == Method::GET
    }

    /// Writes that are steps of a flow. Leases and events are written all the time, and questions are no writes.
    pub(super) fn is_counted(&self) -> bool {
        let aside = ["/leases", "/events", "reviews"];
        !self.is_read() && !aside.iter().any(|part| self.path.contains(part))
    }

    /// Whether it is a watch.
    pub(super) fn is_watch(&self) -> bool {
        self.is_read() && ["watch=1", "watch=true"].iter().any(|query| self.path.contains(query))
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Request, Rule, rule};
    use http::Method;

    fn post(path: &str, rule: &mut Rule) -> Option<(Fault, bool)> {
        rule.judge(&Request { method: &Method::POST, path })
    }

    #[test]
    fn the_third_write_is_struck_and_no_other() {
        let mut third = rule(Fault::LoseAnswer).skip(2).and_cut();
        assert_eq!(post("/a", &mut third), None);
        assert_eq!(post("/apis/coordination.k8s.io/v1/namespaces/n/leases/l", &mut third), None);
        assert_eq!(post("/b", &mut third), None);
        assert_eq!(post("/c", &mut third), Some((Fault::LoseAnswer, true)));
        assert_eq!(post("/d", &mut third), None);
        assert_eq!(third.struck(), 1);
    }

    #[test]
    fn a_rule_about_bindings_leaves_the_rest_alone() {
        let mut binding = rule(Fault::Swallow).on("/binding").times(2);
        assert_eq!(post("/api/v1/namespaces/n/pods/p/status", &mut binding), None);
        assert_eq!(post("/api/v1/namespaces/n/pods/p/binding", &mut binding), Some((Fault::Swallow, false)));
        let read = Request { method: &Method::GET, path: "/binding" };
        assert_eq!(binding.judge(&read), None);
        assert!(Request { method: &Method::GET, path: "/api/v1/pods?watch=1" }.is_watch());
    }
}
