//! What is checked of the reports, each by its name.

use crate::driver::Browser;
use crate::reports::Reports;
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

pub(crate) const AXE: &str = "contrast_names_and_roles_are_as_axe_asks";
pub(crate) const MARKUP: &str = "the_markup_is_valid";
pub(crate) const IN_BROWSER: [&str; 8] = [
    "every_report_draws_without_an_error_or_a_request",
    "five_thousand_nodes_are_drawn_within_a_second_and_open",
    "the_table_says_what_nodes_says",
    "keys_are_enough",
    "a_filter_leaves_what_it_says",
    "a_phone_has_no_sideways_scrolling",
    "the_policy_lets_nothing_out",
    AXE,
];

/// The keys of WebDriver.
const TAB: &str = "\u{e004}";
const RIGHT: &str = "\u{e014}";
const ENTER: &str = "\u{e007}";

/// The longest time until something of a large report is seen, in milliseconds.
const DRAWN_MAX: f64 = 1000.0;

pub(crate) async fn run(
    name: &str,
    browser: &Browser,
    reports: &Reports,
    packages: Option<&Path>,
) -> Result<()> {
    let at = IN_BROWSER.iter().position(|known| *known == name);
    match at {
        Some(0) => every_report_draws(browser, reports).await,
        Some(1) => five_thousand_nodes(browser, reports).await,
        Some(2) => the_table(browser, reports).await,
        Some(3) => keys(browser, reports).await,
        Some(4) => filter(browser, reports).await,
        Some(5) => phone(browser, reports).await,
        Some(6) => policy(browser, reports).await,
        Some(7) => axe(browser, reports, packages.context("no npm")?).await,
        _ => bail!("there is no check {name}"),
    }
}

async fn count(browser: &Browser, selector: &str) -> Result<u64> {
    let found = browser.value(&format!("document.querySelectorAll({}).length", json!(selector))).await?;
    found.as_u64().context("a number")
}

async fn every_report_draws(browser: &Browser, reports: &Reports) -> Result<()> {
    for file in reports.all() {
        browser.open(file).await?;
        let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let title = browser.value("document.querySelector('h1').textContent").await?;
        ensure!(title.as_str().is_some_and(|title| !title.is_empty()), "{name} has no title");
        let tiles = count(browser, ".tile").await?;
        // A reservation is on every third of three nodes; of 5,000 nodes the groups are closed.
        let expected = match name {
            "list" => 1,
            "large" => 0,
            _ => 3,
        };
        ensure!(tiles == expected, "{name}: {tiles} tiles instead of {expected}");
        for scheme in ["light", "dark"] {
            browser.set_scheme(scheme).await?;
            browser.screenshot(&reports.folder.join(format!("{name}-{scheme}.png"))).await?;
        }
        browser.expect_silence(file).await.with_context(|| name.to_owned())?;
    }
    Ok(())
}

async fn five_thousand_nodes(browser: &Browser, reports: &Reports) -> Result<()> {
    let size = std::fs::metadata(&reports.large)?.len();
    browser.open(&reports.large).await?;
    let drawn = browser.value("performance.getEntriesByName('first-contentful-paint')[0].startTime").await?;
    let drawn = drawn.as_f64().context("a time")?;
    println!("5,000 nodes: {size} bytes, drawn after {drawn:.0} ms");
    ensure!(size <= 3_000_000, "{size} bytes");
    ensure!(drawn <= DRAWN_MAX, "drawn after {drawn} ms");
    ensure!(count(browser, "details.group").await? == 10, "not one group for each pool");
    browser.value("document.querySelector('details.group > summary').focus()").await?;
    browser.press(ENTER).await?;
    browser.until("document.querySelectorAll('.tile').length === 500").await?;
    browser.screenshot(&reports.folder.join("large-open.png")).await?;
    ensure!(count(browser, ".tables tbody:first-of-type tr").await? >= 5001, "the table has not all nodes");
    Ok(())
}

async fn the_table(browser: &Browser, reports: &Reports) -> Result<()> {
    browser.open(&reports.nodes).await?;
    let rows = "[...document.querySelectorAll('.tables table')[0].querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))";
    let rows = browser.value(rows).await?;
    let rows: Vec<Vec<String>> = serde_json::from_value(rows)?;
    for node in reports.room["items"].as_array().into_iter().flatten() {
        let name = node["metadata"]["name"].as_str().unwrap_or_default();
        let row = rows.iter().find(|row| row.first().is_some_and(|first| first == name));
        let row = row.with_context(|| format!("no row for {name}: {rows:?}"))?;
        let shown: Vec<&str> = row.iter().skip(6).take(4).map(String::as_str).collect();
        // In cores, as in the table of `nodes`.
        let text = |part: &str| {
            let amount = node[part]["cpu"].as_str().unwrap_or_default();
            let milli: Option<u32> = amount.strip_suffix('m').and_then(|milli| milli.parse().ok());
            let cores = milli.map(|milli| format!("{}.{:03}", milli / 1000, milli % 1000));
            cores
                .map_or(amount.to_owned(), |text| text.trim_end_matches('0').trim_end_matches('.').to_owned())
        };
        let expected = ["allocatable", "requested", "reserved", "free"].map(text);
        ensure!(shown == expected, "{name}: {shown:?} instead of {expected:?}");
    }
    // 32Gi less three pods of 3000Mi, rounded down as the table of `nodes` does.
    ensure!(rows.iter().any(|row| row.iter().any(|cell| cell == "23.2Gi")), "{rows:?}");
    Ok(())
}

async fn keys(browser: &Browser, reports: &Reports) -> Result<()> {
    browser.open(&reports.explain).await?;
    let active = "document.activeElement.className.includes('tile') ? document.activeElement.getAttribute('aria-label') : ''";
    let mut first = String::new();
    for _ in 0..40 {
        browser.press(TAB).await?;
        first = browser.value(active).await?.as_str().unwrap_or_default().to_owned();
        if !first.is_empty() {
            break;
        }
    }
    ensure!(first.contains("node-"), "no tile is reached by the tabulator");
    let panel = browser.value("document.querySelector('.node').textContent").await?;
    let panel = panel.as_str().unwrap_or_default();
    let name = first.split([' ', ':']).nth(1).unwrap_or_default();
    ensure!(panel.starts_with(name) && panel.contains("allocatable"), "{first}: {panel}");
    browser.value("document.querySelectorAll('select')[0].focus()").await?;
    browser.value("document.querySelector('.tiles').children[0].focus()").await?;
    browser.press(RIGHT).await?;
    let is_last = browser.value("document.querySelector('.tiles').children.length === 1").await?;
    let index = browser
        .value("[...document.activeElement.parentElement.children].indexOf(document.activeElement)")
        .await?;
    ensure!(is_last == json!(true) || index == json!(1), "the arrow does not lead to the next tile: {index}");
    let stops = count(browser, ".tile[tabindex='0']").await?;
    ensure!(
        stops == count(browser, ".tiles").await?,
        "each group has one stop of the tabulator, not {stops}"
    );
    Ok(())
}

async fn filter(browser: &Browser, reports: &Reports) -> Result<()> {
    browser.open(&reports.explain).await?;
    browser.value("document.querySelector('input[type=search]').focus()").await?;
    browser.press("00002").await?;
    browser.until("document.querySelectorAll('.tile').length === 1").await?;
    for _ in 0..5 {
        browser.press("\u{e003}").await?;
    }
    browser.until("document.querySelectorAll('.tile').length === 3").await?;
    browser.value("document.querySelector('.legend button').click()").await?;
    let label = "Number(document.querySelector('.legend button b').textContent)";
    browser.until(&format!("document.querySelectorAll('.tile').length === {label}")).await?;
    let pressed = count(browser, ".legend button[aria-pressed='true']").await?;
    ensure!(pressed == 1, "{pressed} entries of the legend are pressed");
    Ok(())
}

async fn phone(browser: &Browser, reports: &Reports) -> Result<()> {
    browser.set_size(390, 844).await?;
    for file in reports.all() {
        browser.open(file).await?;
        let wide = browser.value("document.documentElement.scrollWidth - window.innerWidth").await?;
        ensure!(wide.as_i64().is_some_and(|wide| wide <= 0), "{}: {wide} pixels too wide", file.display());
    }
    browser.set_scheme("dark").await?;
    browser.screenshot(&reports.folder.join("phone.png")).await
}

async fn policy(browser: &Browser, reports: &Reports) -> Result<()> {
    browser.open(&reports.explain).await?;
    let tries = "const done = arguments[arguments.length - 1];
        const image = new Promise((resolve) => { const one = new Image(); one.onload = () => resolve('loaded'); one.onerror = () => resolve('blocked'); one.src = 'http://127.0.0.1:9/x.png'; });
        const call = fetch('http://127.0.0.1:9/x').then(() => 'loaded', () => 'blocked');
        const script = new Promise((resolve) => { document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective)); const one = document.createElement('script'); one.textContent = 'window.odd = 1'; document.body.append(one); });
        Promise.all([image, call, script]).then((all) => done([...all, window.odd ?? 'not run']));";
    let result = browser.result(tries).await?;
    let all = result.as_array().context("an array")?;
    ensure!(all[0] == "blocked" && all[1] == "blocked" && all[3] == "not run", "{result}");
    Ok(())
}

async fn axe(browser: &Browser, reports: &Reports, packages: &Path) -> Result<()> {
    let axe = std::fs::read_to_string(packages.join("axe-core/axe.min.js"))?;
    for file in reports.all() {
        for scheme in ["light", "dark"] {
            browser.open(file).await?;
            browser.set_scheme(scheme).await?;
            // Of 5,000 nodes a tenth: axe takes minutes for all rows of the table.
            let is_large = file == reports.large;
            let opened = if is_large { "details.group:first-child" } else { "details" };
            browser
                .value(&format!(
                    "document.querySelectorAll('{opened}').forEach((one) => {{ one.open = true; }})"
                ))
                .await?;
            browser.until("document.querySelectorAll('.tile').length > 0").await?;
            browser.value("document.querySelector('.tile').focus()").await?;
            let left_out = if is_large { "'.tables'" } else { "" };
            let script = format!(
                "{axe}; const done = arguments[arguments.length - 1]; axe.run({{ include: ['html'], exclude: [{left_out}] }}, {{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }}).then((found) => done(found.violations.map((one) => [one.id, one.help, one.nodes.slice(0, 3).map((node) => node.html)])), (error) => done(String(error)))"
            );
            let found = browser.result(&script).await?;
            ensure!(found == Value::Array(Vec::new()), "{} ({scheme}): {found:#}", file.display());
        }
    }
    Ok(())
}

/// html-validate has nothing to say about the reports.
pub(crate) fn markup_is_valid(reports: &Reports, packages: &Path) -> Result<()> {
    let configuration = reports.folder.join("htmlvalidate.json");
    std::fs::write(
        &configuration,
        json!({ "root": true, "extends": ["html-validate:recommended"] }).to_string(),
    )?;
    let mut command = Command::new(packages.join(".bin/html-validate"));
    let output = command.arg("--config").arg(&configuration).args(reports.all()).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}
