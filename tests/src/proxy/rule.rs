//! Rules: which fault happens to which requests.

use http::Method;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request never arrives, and the connection breaks.
    LoseRequest,
    /// The request is carried out, and the connection breaks before the answer.
    LoseAnswer,
    /// The request never arrives, and is never answered.
    Swallow,
    /// The request is carried out, and is never answered.
    SwallowAnswer,
    /// The request never arrives, and the proxy answers with this status.
    Answer(u16),
}

/// A fault, and the requests that it happens to.
#[derive(Clone, Debug)]
#[must_use = "give it to Proxy::add"]
pub struct Rule {
    fault: Fault,
    path: String,
    reads: bool,
    skip: usize,
    times: usize,
    is_last: bool,
    applied: usize,
}

/// The parts of a request that rules look at.
pub(super) struct RequestInfo<'r> {
    pub(super) method: &'r Method,
    /// With the query.
    pub(super) path: &'r str,
}

/// A rule for the next write, once, unless its methods say otherwise.
pub fn rule(fault: Fault) -> Rule {
    Rule { fault, path: String::new(), reads: false, skip: 0, times: 1, is_last: false, applied: 0 }
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

    /// The first `requests` matching requests get through.
    pub fn skip(mut self, requests: usize) -> Self {
        self.skip = requests;
        self
    }

    /// The fault happens to this many requests.
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// After that nothing gets through any more.
    pub fn and_cut(mut self) -> Self {
        self.is_last = true;
        self
    }

    /// How many requests had the fault.
    pub(super) fn applied(&self) -> usize {
        self.applied
    }

    /// The fault for `request`, and whether nothing gets through after it.
    pub(super) fn judge(&mut self, request: &RequestInfo<'_>) -> Option<(Fault, bool)> {
        let matches = if self.reads { request.is_read() } else { request.is_counted() };
        if !matches || !request.path.contains(&self.path) || self.applied == self.times {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        self.applied += 1;
        Some((self.fault, self.is_last && self.applied == self.times))
    }
}

impl RequestInfo<'_> {
    fn is_read(&self) -> bool {
        self.method == Method::GET
    }

    /// Whether the request is a write that is a step of a flow. Leases and events are written all the time, and reviews (POSTs
    /// that only ask) are no writes.
    pub(super) fn is_counted(&self) -> bool {
        let aside = ["/leases", "/events", "reviews"];
        !self.is_read() && !aside.iter().any(|part| self.path.contains(part))
    }

    pub(super) fn is_watch(&self) -> bool {
        self.is_read() && ["watch=1", "watch=true"].iter().any(|query| self.path.contains(query))
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, RequestInfo, Rule, rule};
    use http::Method;

    fn post(path: &str, rule: &mut Rule) -> Option<(Fault, bool)> {
        rule.judge(&RequestInfo { method: &Method::POST, path })
    }

    #[test]
    fn the_third_write_is_struck_and_no_other() {
        let mut third = rule(Fault::LoseAnswer).skip(2).and_cut();
        assert_eq!(post("/a", &mut third), None);
        assert_eq!(post("/apis/coordination.k8s.io/v1/namespaces/n/leases/l", &mut third), None);
        assert_eq!(post("/b", &mut third), None);
        assert_eq!(post("/c", &mut third), Some((Fault::LoseAnswer, true)));
        assert_eq!(post("/d", &mut third), None);
        assert_eq!(third.applied(), 1);
    }

    #[test]
    fn a_rule_about_bindings_leaves_the_rest_alone() {
        let mut binding = rule(Fault::Swallow).on("/binding").times(2);
        assert_eq!(post("/api/v1/namespaces/n/pods/p/status", &mut binding), None);
        assert_eq!(post("/api/v1/namespaces/n/pods/p/binding", &mut binding), Some((Fault::Swallow, false)));
        let read = RequestInfo { method: &Method::GET, path: "/binding" };
        assert_eq!(binding.judge(&read), None);
        assert!(RequestInfo { method: &Method::GET, path: "/api/v1/pods?watch=1" }.is_watch());
    }
}
