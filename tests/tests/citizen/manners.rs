//! How the command behaves where there is no terminal, no colour and 80 columns: every verb's help, and usage errors.

use super::Said;
use anyhow::Result;
use reserve_tests::programs;
use std::process::Command;
use std::time::{Duration, Instant};

fn run(name: &str, environment: &[(&str, &str)], words: &[&str]) -> Result<Said> {
    let mut command = Command::new(programs::build()?.join("kubectl-reserve"));
    std::os::unix::process::CommandExt::arg0(&mut command, name);
    command
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env("TERM", "xterm")
        .env("KUBECONFIG", "/no/such/file");
    Said::new(command.envs(environment.iter().copied()).args(words).output()?)
}

/// Every verb, from the help itself.
fn verbs() -> Result<Vec<String>> {
    let help = run("kubectl-reserve", &[], &["--help"])?.well()?;
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names =
        commands.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    Ok(names.map(String::from).collect())
}

#[test]
fn help_is_plain_narrow_and_names_the_command() -> Result<()> {
    let verbs = verbs()?;
    assert!(verbs.len() >= 5 && verbs.contains(&"list".into()), "{verbs:?}");
    for verb in verbs.iter().filter(|verb| *verb != "help") {
        for environment in [&[][..], &[("NO_COLOR", "1")], &[("TERM", "dumb")]] {
            let help = run("kubectl-reserve", environment, &[verb, "--help"])?.well()?;
            assert!(!help.contains('\u{1b}'), "{verb}: {help}");
            assert!(help.contains(&format!("Usage: kubectl reserve {verb}")), "{verb}: {help}");
            let wide = help.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{verb}");
        }
        let long = run("kubectl-reserve", &[], &[verb, "--help"])?.well()?;
        assert_eq!(run("kubectl-reserve", &[], &["help", verb])?.well()?, long, "{verb}");
    }
    Ok(())
}

#[test]
fn colours_come_when_they_are_asked_for() -> Result<()> {
    let help = run("kubectl-reserve", &[], &["list", "--help", "--color=always"])?.well()?;
    assert!(help.contains('\u{1b}'), "{help}");
    let help =
        run("kubectl-reserve", &[("CLICOLOR_FORCE", "1")], &["list", "--help", "--no-color"])?.well()?;
    assert!(!help.contains('\u{1b}'), "{help}");
    let error = run("kubectl-reserve", &[], &["list", "--color=always"])?;
    assert!(error.talk.starts_with("\u{1b}[31merror:"), "{}", error.talk);
    let error = run("kubectl-reserve", &[], &["list"])?;
    assert!(
        error.talk.starts_with("error: no kubeconfig found: /no/such/file does not exist\n"),
        "{}",
        error.talk
    );
    Ok(())
}

#[test]
fn the_name_is_the_one_that_was_typed() -> Result<()> {
    let bare = run("kubectl-reserve", &[], &[])?.well()?;
    assert!(bare.contains("\nUsage: kubectl reserve "), "{bare}");
    let other = run("/somewhere/kubectl-pod_reserve", &[], &["--help"])?.well()?;
    assert!(other.contains("\nUsage: kubectl pod-reserve "), "{other}");
    let verbs = run("kubectl_complete-pod_reserve", &[], &[""])?.well()?;
    assert!(verbs.contains("list\t") && verbs.ends_with("\n:4\n"), "{verbs}");
    Ok(())
}

#[test]
fn bad_usage_exits_with_2_and_says_what_was_meant() -> Result<()> {
    for (words, told) in [
        (&["lst"][..], "'list'"),
        (&["list", "--namespac=x"], "'--namespace'"),
        (&["list", "-o", "xml"], "allowed formats are: table, wide, name"),
        (&["list", "-o", "go-template={{.}}"], "jsonpath"),
        (&["list", "-o", "jsonpath={.a"], "unclosed action"),
        (&["explain", "a", "--color=sometimes"], "always"),
        (&["list", "-v", "much"], "much"),
    ] {
        let said = run("kubectl-reserve", &[], words)?;
        assert_eq!(said.code, Some(2), "{words:?}: {}", said.talk);
        assert!(said.talk.starts_with("error: ") && said.talk.contains(told), "{words:?}: {}", said.talk);
        assert_eq!(said.out, "", "{words:?}");
    }
    Ok(())
}

#[test]
fn help_comes_at_once() -> Result<()> {
    // The shipped program needs some 2 ms of the processor; this one is not optimised, and the machine is shared.
    let quickest = (0..5)
        .map(|_| {
            let begin = Instant::now();
            run("kubectl-reserve", &[], &["--help"])?.well()?;
            Ok(begin.elapsed())
        })
        .collect::<Result<Vec<Duration>>>()?;
    let quickest = quickest.into_iter().min().unwrap_or_default();
    assert!(quickest < Duration::from_millis(500), "{quickest:?}");
    Ok(())
}

#[test]
fn versions_need_no_server() -> Result<()> {
    let version = format!("v{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        run("kubectl-reserve", &[], &["version", "--client"])?.well()?,
        format!("Client Version: {version}\n")
    );
    let json = run("kubectl-reserve", &[], &["version", "--client", "-o", "json"])?.well()?;
    let json: serde_json::Value = serde_json::from_str(&json)?;
    assert_eq!(json["clientVersion"]["version"], version);
    // As kubectl: what is known is said, and then what is wrong.
    let said = run("kubectl-reserve", &[], &["version"])?;
    assert_eq!((said.code, said.out.as_str()), (Some(1), &*format!("Client Version: {version}\n")));
    assert!(said.talk.contains("no kubeconfig found"));
    Ok(())
}
