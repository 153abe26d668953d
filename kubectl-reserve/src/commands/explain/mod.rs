//! `kubectl reserve explain`: why pods are Pending, judged by the scheduler's own filters.
//!
//! The order: `subject` finds the pods to explain, `cluster_data` reads the cluster, `evidence` reads events, `answer` explains one
//! pod at a time (`triage`: many pods), `show` prints.

mod answer;
mod evidence;
mod picture;
mod show;
mod subject;
mod triage;

use super::Context;
use crate::changes::Changes;
use crate::cli::Explain;
use crate::clock::local_time;
use crate::cluster_data::{self, ClusterData, ClusterDataBuilder, Depth, Saver};
use crate::connect::Session;
use crate::error::{Exit, Failure};
use crate::explain;
use crate::print;
use crate::reader::{NODES, PODS};
use crate::render::explain::Layout;
use crate::render::picture::PictureSource;
use crate::render::wrap::WIDTH;
use crate::rights::{self, Right};
use crate::ui::redraw::Redraw;
use crate::ui::{Ui, printer};
use answer::{Answers, Explainer};
use show::{Detail, ExplainOutput};
use subject::Subject;

/// What is watched with `--watch`: nearly everything that lets a pod wait shows in one of these.
const WATCHED: [&str; 3] = [NODES, PODS, "/api/v1/persistentvolumeclaims"];

/// Where the cluster is read from.
enum Source<'s> {
    Cluster(&'s Session),
    /// A snapshot, with the value of `--namespace`; without it the namespace of the snapshot is used.
    Snapshot(Option<&'s str>),
}

pub(crate) async fn run(args: &Explain, context: &Context) -> Result<(), Failure> {
    let (source, named) = (Source::Cluster(&context.session), context.context.as_deref());
    if !args.watch {
        let picture_source = PictureSource::server(&context.session.server, named, local_time());
        let answers = once(args, &source, &context.ui, named).await?;
        return finish(args, &answers, picture_source, &context.ui);
    }
    let mut changes = Changes::begin(&context.session, &WATCHED).await?;
    let (mut last, mut screen): (Option<Answers>, _) = (None, Redraw::default());
    loop {
        let answers = once(args, &source, &context.ui, named).await?;
        if last.as_ref().is_none_or(|last| !last.is_same(&answers)) {
            screen.show(&context.ui, text(args, &answers, &context.ui)?)?;
        }
        last = Some(answers);
        changes.next(None).await?;
    }
}

/// The same for a saved snapshot.
pub(crate) async fn offline(args: &Explain, namespace: Option<&str>, ui: &Ui) -> Result<(), Failure> {
    let path = args.snapshot.as_deref().unwrap_or_else(|| std::path::Path::new(""));
    let picture_source = PictureSource::snapshot(path, local_time());
    finish(args, &once(args, &Source::Snapshot(namespace), ui, None).await?, picture_source, ui)
}

async fn once(
    args: &Explain,
    source: &Source<'_>,
    ui: &Ui,
    context: Option<&str>,
) -> Result<Answers, Failure> {
    let (subject, mut data) = match source {
        Source::Cluster(session) => {
            let subject = subject::find(args, session).await?;
            let data = read(args, session, ui, &subject).await?;
            (subject, data)
        }
        Source::Snapshot(namespace) => {
            let path = args.snapshot.as_deref().unwrap_or_else(|| std::path::Path::new(""));
            let mut data = cluster_data::load(path, subject::names(args)?.into_iter())?;
            if let Some(namespace) = namespace {
                data.namespace = (*namespace).to_owned();
            }
            (subject::find_in_snapshot(args, &data)?, data)
        }
    };
    if let Source::Cluster(session) = source {
        evidence::read(session, &mut data, &subject).await?;
    }
    data.save()?;
    if let Some(selection) = &subject.pending {
        data.require_pods(selection.namespace.as_deref())?;
    }
    let needs = data.missing_rights();
    if needs.is_empty() {
        data.warn_about_unreadable();
    }
    let explainer = Explainer::new(args, &data, context)?;
    let tiles = picture::tiles(args, &mut data);
    let mut answers = answer::answers(&explainer, &subject, data, needs)?;
    answers.tiles = tiles;
    if let Source::Cluster(session) = source {
        ask_rights(session, &mut answers).await?;
    }
    Ok(answers)
}

/// Notes for each proposed fix whether the caller may carry it out.
async fn ask_rights(session: &Session, answers: &mut Answers) -> Result<(), Failure> {
    for report in answers.pods.iter_mut().map(|one| &mut one.report) {
        let rights = report.needs();
        let asked = |right: &explain::RequiredRight| {
            Right::new(right.verb, right.group, &right.resource, right.namespace.as_deref())
        };
        let missing = rights::missing(session, &rights.iter().map(asked).collect::<Vec<_>>()).await?;
        report.note_rights(|right| Some(!missing.contains(&asked(right))));
    }
    Ok(())
}

async fn read(args: &Explain, session: &Session, ui: &Ui, subject: &Subject) -> Result<ClusterData, Failure> {
    let saver = args.save_snapshot.as_deref().map(Saver::create).transpose()?;
    let mut builder = ClusterDataBuilder::with_saver(saver);
    builder.keep_pod_json(subject.names().into_iter());
    for json in &subject.sources {
        builder.add(cluster_data::Resource::Pods, json).map_err(Failure::new)?;
    }
    cluster_data::read(session, ui, Depth::Reasons, builder).await
}

fn print_all(args: &Explain, answers: &Answers, ui: &Ui) -> Result<(), Failure> {
    if answers.is_nothing() && args.print.output.is_table() {
        printer::say(&answers.nothing_found());
        return Ok(());
    }
    printer::out(&text(args, answers, ui)?)
}

fn text(args: &Explain, answers: &Answers, ui: &Ui) -> Result<String, Failure> {
    if answers.is_nothing() && args.print.output.is_table() {
        return Ok(format!("{}\n", answers.nothing_found()));
    }
    let layout = Layout { width: ui.width().unwrap_or(WIDTH), paint: ui.paint() };
    let detail = match () {
        () if args.brief => Detail::Verdict,
        () if args.is_full() => Detail::Full,
        () => Detail::Screen,
    };
    print::text(&args.print, &ExplainOutput { answers, detail, layout })
}

fn finish(args: &Explain, answers: &Answers, picture_source: PictureSource, ui: &Ui) -> Result<(), Failure> {
    if args.print.output.is_picture() {
        print::print_picture(&args.print, &picture::picture(answers, picture_source))?;
    } else {
        print_all(args, answers, ui)?;
    }
    if !answers.needs.is_empty() && answers.needs_nodes() {
        return Err(Failure::new("without nodes it cannot be said what each of them lacks")
            .hint(format!("needs: {}", answers.needs.join("; ")))
            .exit(Exit::Forbidden));
    }
    if args.exit_code && answers.is_blocked() { Err(Failure::silent(Exit::NoFit)) } else { Ok(()) }
}
