//! Reports in a real browser: they draw 3 and 5,000 nodes, ask nothing of anybody, and can be used with keys, on a phone and by screen
//! readers. Chromium is spoken to by fantoccini, a client of WebDriver: the standard that all browsers have, and of the clients that are
//! kept well the one that brings no second HTTP client (chromiumoxide and thirtyfour need reqwest, which deny.toml bans).
//!
//! This target has a runner of its own, because a test that cannot run here must not count as passed: it is said to be ignored, with
//! what is missing and how to get it. Pictures of what was drawn are in `target/browser`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "it is a test runner")]

mod checks;
mod driver;
mod reports;

use anyhow::Result;
use driver::Browser;
use reports::Reports;
use std::process::ExitCode;

/// What is missing here, and how to get it.
const NO_BROWSER: &str = "no chromedriver (apt-get install chromium chromium-driver)";
const NO_NPM: &str = "no npm (apt-get install npm), which has axe-core and html-validate";

#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Count {
    fn add(&mut self, name: &str, result: Result<Result<()>, &str>) {
        let (counted, words) = match result {
            Ok(Ok(())) => (&mut self.passed, "ok".to_owned()),
            Ok(Err(error)) => (&mut self.failed, format!("FAILED\n{error:#}")),
            Err(missing) => (&mut self.ignored, format!("ignored, not run: {missing}")),
        };
        *counted += 1;
        println!("test {name} ... {words}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    let filter = words.into_iter().find(|word| !word.starts_with('-'));
    match run(filter.as_deref().unwrap_or_default()).await {
        Ok(count) => {
            let Count { passed, failed, ignored } = count;
            let result = if failed == 0 { "ok" } else { "FAILED" };
            println!(
                "\ntest result: {result}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out\n"
            );
            if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            println!("{error:?}");
            ExitCode::FAILURE
        }
    }
}

async fn run(filter: &str) -> Result<Count> {
    let (mut count, reports) = (Count::default(), Reports::make()?);
    let packages = reports::packages()?;
    for name in checks::IN_BROWSER.into_iter().filter(|name| name.contains(filter)) {
        let result = match (name == checks::AXE, packages.as_deref()) {
            (true, None) => Err(NO_NPM),
            (_, packages) => match Browser::start().await? {
                None => Err(NO_BROWSER),
                Some(browser) => {
                    let result = checks::run(name, &browser, &reports, packages).await;
                    browser.close().await;
                    Ok(result)
                }
            },
        };
        count.add(name, result);
    }
    if checks::MARKUP.contains(filter) {
        let result = packages.as_deref().ok_or(NO_NPM);
        count.add(checks::MARKUP, result.map(|packages| checks::markup_is_valid(&reports, packages)));
    }
    Ok(count)
}
