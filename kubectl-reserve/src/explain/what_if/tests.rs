//! Tests of the grammar of `--what-if`.

use super::read::distance;
use super::{WhatIf, parse};
use common::model::ResourceName;
use common::model::owner::OwnerKind;
use common::model::taint::TaintEffect;

#[test]
fn every_form_is_understood() {
    let tolerate = |key: &str, value: Option<&str>, effect| WhatIf::Tolerate {
        key: key.into(),
        value: value.map(str::to_owned),
        effect,
    };
    let table = [
        ("requests.cpu=1500m", WhatIf::Request(ResourceName::Cpu, 1500)),
        ("requests.memory=1Gi", WhatIf::Request(ResourceName::Memory, 1 << 30)),
        ("requests.nvidia.com/gpu=2", WhatIf::Request(ResourceName::from("nvidia.com/gpu"), 2)),
        ("uncordon=node-3", WhatIf::Uncordon("node-3".into())),
        (
            "toleration=dedicated=db:NoSchedule",
            tolerate("dedicated", Some("db"), Some(TaintEffect::NoSchedule)),
        ),
        ("toleration=dedicated", tolerate("dedicated", None, None)),
        ("untaint=node-3:dedicated", WhatIf::Untaint("node-3".into(), "dedicated".into())),
        ("untaint=node-3:a=b:NoExecute", WhatIf::Untaint("node-3".into(), "a=b:NoExecute".into())),
        ("label=node-4:disktype=ssd", WhatIf::Label("node-4".into(), "disktype".into(), Some("ssd".into()))),
        ("label=node-4:spot-", WhatIf::Label("node-4".into(), "spot".into(), None)),
        ("release=7f3a0c", WhatIf::Release("7f3a0c".into())),
        ("scale=deploy/batch=2", WhatIf::Scale(OwnerKind::Deployment, "batch".into(), 2)),
        ("scale=sts/pg=0", WhatIf::Scale(OwnerKind::StatefulSet, "pg".into(), 0)),
        ("evict=ns/pod-1", WhatIf::Evict(Some("ns".into()), "pod-1".into())),
        ("evict=pod-1", WhatIf::Evict(None, "pod-1".into())),
        ("priority=1000", WhatIf::Priority(1000)),
        ("add-node=like:node-2", WhatIf::AddLike("node-2".into())),
    ];
    for (text, expected) in table {
        assert_eq!(parse(text), Ok(expected), "{text}");
    }
    let Ok(WhatIf::AddNode(has)) = parse("add-node=cpu=8,memory=32Gi") else { panic!() };
    assert_eq!((has.cpu, has.memory, has.pods), (8000, 32 << 30, 110));
}

#[test]
fn what_makes_no_sense_is_told_with_the_nearest_word() {
    let error = |text: &str| parse(text).unwrap_err();
    assert!(error("uncordn=n1").contains("did you mean uncordon?"), "{}", error("uncordn=n1"));
    assert!(error("tolerations=a").contains("did you mean toleration?"));
    assert!(error("request.cpu=1").contains("did you mean requests?"));
    assert!(error("nonsense").contains("known: requests, uncordon"));
    assert!(!error("nonsense").contains("did you mean"));
    for (text, part) in [
        ("requests=1", "requests.RESOURCE=AMOUNT"),
        ("requests.cpu=lots", "lots"),
        ("untaint=node-3", "untaint=NODE:KEY"),
        ("label=node-4:x", "label=NODE:KEY=VALUE"),
        ("scale=batch=2", "scale=TYPE/NAME=REPLICAS"),
        ("scale=deploy/batch=many", "scale=TYPE/NAME=REPLICAS"),
        ("priority=high", "a number"),
        ("add-node=big", "add-node=like:NODE"),
        ("uncordon=", "nothing follows"),
        ("uncordon.x=n", "no change that can be tried"),
    ] {
        assert!(error(text).contains(part), "{text}: {}", error(text));
    }
}

#[test]
fn distances_are_those_of_levenshtein() {
    for (one, other, expected) in
        [("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("label", "labels", 1)]
    {
        assert_eq!(distance(one, other), expected);
    }
}
