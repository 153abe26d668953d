//! The sections `FIXES`, with commands, and `NOT POSSIBLE`: preemption and autoscalers.

use super::Layout;
use crate::explain::{
    AutoscalerEvent, Fix, Harm, NodeAnalysis, PodSummary, Preemption, Report, RequiredRight,
};
use crate::render::printable;
use crate::render::time::between;
use crate::render::wrap::wrap;
use crate::ui::Tone;

/// All fixes, and how to see the rest of them.
pub(super) fn section(analysis: &NodeAnalysis, layout: &Layout) -> String {
    let mut text = Section { fixes: &analysis.fixes, count: analysis.fixes.len() }.text(layout);
    if analysis.more_fixes > 0 {
        text += &format!("  ({} more: --fixes=all)\n", analysis.more_fixes);
    }
    text
}

/// The first `count` of the fixes, with headings.
pub(super) struct Section<'f> {
    pub(super) fixes: &'f [Fix],
    pub(super) count: usize,
}

impl Section<'_> {
    pub(super) fn text(&self, layout: &Layout) -> String {
        let mut text = String::new();
        let mut is_disruptive = false;
        for (at, fix) in self.fixes.iter().take(self.count).enumerate() {
            if at == 0 {
                text += "\nFIXES  each was simulated: after it the pod fits on the node shown\n";
            }
            if fix.harm() == Harm::Disruptive && !is_disruptive {
                is_disruptive = true;
                text += &layout.paint.paint(Tone::Careful, "DISRUPTIVE");
                text += "  others lose something by these\n";
            }
            text += &one(fix, layout);
        }
        text
    }
}

fn one(fix: &Fix, layout: &Layout) -> String {
    let place = fix.lands_on.as_ref().map_or_else(String::new, |node| format!("{node}  "));
    let disturbs = match &fix.disturbs[..] {
        [] if fix.lands_on.is_none() => String::new(),
        [] => "; disturbs nobody".to_owned(),
        some => format!("; {}", some.join(", ")),
    };
    let words = format!("{}{}", printable(&fix.description), printable(&disturbs));
    let text = wrap(&format!("  {:<2} {place}", fix.id), &words, 5, layout.width);
    let letter = layout.paint.paint(Tone::Strong, &fix.id);
    let mut text = text.replacen(&fix.id, &letter, 1);
    for command in &fix.commands {
        text += &format!("     {}\n", shell(command));
    }
    if fix.allowed == Some(false) {
        let needs: Vec<String> = fix.needs.iter().map(right).collect();
        text += &wrap(
            "     ",
            &format!("not for you: ask somebody who may {}", needs.join(" and ")),
            7,
            layout.width,
        );
    }
    text
}

/// A right as text: `patch nodes`, `patch deployments.apps in default`.
pub(crate) fn right(right: &RequiredRight) -> String {
    let dot = if right.group.is_empty() { "" } else { "." };
    let within = right.namespace.as_ref().map_or_else(String::new, |namespace| format!(" in {namespace}"));
    format!("{} {}{dot}{}{within}", right.verb, right.resource, right.group)
}

/// A command, quoted so that it can be pasted into a shell.
pub(crate) fn shell(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./:,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Preemption and autoscalers: whether they would help, and why not.
pub(super) fn not_possible(report: &Report, analysis: &NodeAnalysis, layout: &Layout) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    if let Some(preemption) = &analysis.preemption {
        rows.push(("preemption", preempting(&report.pod_summary.scheduler, preemption)));
    }
    rows.extend(report.autoscaler.iter().map(|one| ("autoscaler", scaling(&report.pod_summary, one))));
    if rows.is_empty() {
        return String::new();
    }
    let is_possible = matches!(analysis.preemption, Some(Preemption::Possible { .. }));
    let mut text = if is_possible { "\nALSO\n".to_owned() } else { "\nNOT POSSIBLE\n".to_owned() };
    for (name, words) in rows {
        text += &wrap(&format!("  {name:<10}  "), &printable(&words), 14, layout.width);
    }
    text
}

/// Whether preemption would help, in words.
pub(crate) fn preempting(scheduler: &str, preemption: &Preemption) -> String {
    match preemption {
        Preemption::Possible { node, victims, violations } => {
            let budgets = match violations {
                0 => String::new(),
                some => format!(", {some} of them against their budget"),
            };
            format!("{scheduler} may make room on {node} by ending {}{budgets}", listed(victims))
        }
        Preemption::Impossible { because, with, .. } => match with {
            Some(with) => {
                let class = with.class.as_ref().map_or_else(String::new, |class| format!(" (class {class})"));
                format!(
                    "{because}; it would work with priority >= {}{class} on {} (ends {})",
                    with.priority,
                    with.node,
                    listed(&with.victims)
                )
            }
            None => because.clone(),
        },
    }
}

fn listed(pods: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut shown: Vec<&str> = pods.iter().take(SHOWN).map(String::as_str).collect();
    let more = format!("+{}", pods.len().saturating_sub(SHOWN));
    if pods.len() > SHOWN {
        shown.push(&more);
    }
    shown.join(", ")
}

/// What an autoscaler said about the pod.
pub(super) fn scaling(pod_summary: &PodSummary, one: &AutoscalerEvent) -> String {
    let when = one.at.map_or_else(String::new, |at| format!(" {} ago", between(at, pod_summary.now)));
    format!("{}{when}: {}, {}", one.source, one.reason, one.message)
}

#[cfg(test)]
mod tests {
    use super::shell;

    #[test]
    fn commands_can_be_pasted() {
        let words = ["kubectl", "patch", "-p", "[{\"a\":\"it's\"}]", "", "a=b:c-"].map(str::to_owned);
        assert_eq!(shell(&words), r#"kubectl patch -p '[{"a":"it'\''s"}]' '' a=b:c-"#);
    }
}
