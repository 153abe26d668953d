//! The catalog and its stores: what they keep, and which changes they report.

use crate::cluster::{Change, Cluster, Event, Store, WatchEvent};
use crate::model::catalog_object::{CatalogKind, CatalogObject};
use crate::model::storage::{PersistentVolume, VolumeAttachment};
use crate::model::{Namespace, Object, Service};
use crate::testing::{
    CatalogObjectBuilder, attachment, budget, claim, cluster_builder, csi_capacity, csi_driver, csi_node,
    namespace, service, storage_class, uid, volume,
};
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use std::collections::BTreeMap;

fn names<'a, T: Object + 'a>(objects: impl Iterator<Item = &'a T>) -> Vec<String> {
    objects.map(|object| format!("{}/{}", object.meta().namespace, object.meta().name)).collect()
}

fn applied(store: &mut Store<Service>, service: &CatalogObjectBuilder) -> bool {
    store.apply(WatchEvent::Applied(service.build()))
}

#[test]
fn an_older_version_of_the_same_object_is_not_believed() {
    let mut store = Store::default();
    assert!(applied(&mut store, &service("web").version(5).selector([("app", "web")])));
    assert!(!applied(&mut store, &service("web").version(4)));
    assert!(!store.apply(WatchEvent::Relisted(vec![service("web").version(4).build()])));
    assert_eq!(store.get("default", "web").unwrap().selector.get("app"), Some("web"));
    assert!(applied(&mut store, &service("web").version(6)));
    assert_eq!(store.get("default", "web").unwrap().selector.get("app"), None);
}

#[test]
fn a_newer_version_that_says_the_same_is_kept_and_changes_nothing() {
    let mut store = Store::default();
    applied(&mut store, &service("web").version(1));
    assert!(!applied(&mut store, &service("web").version(7)));
    assert_eq!(store.get("default", "web").unwrap().meta.resource_version, 7);
    assert!(
        !applied(&mut store, &service("web").version(6).selector([("a", "b")])),
        "older than the last one"
    );
}

#[test]
fn the_same_name_with_another_uid_is_another_object() {
    let mut store = Store::default();
    applied(&mut store, &service("web").version(9));
    assert!(applied(&mut store, &service("web").uid("again").version(2)));
    assert!(
        !store.apply(WatchEvent::Deleted(service("web").version(9).build())),
        "the old one is gone already"
    );
    assert_eq!(store.get("default", "web").unwrap().meta.uid, uid("again"));
    assert!(store.apply(WatchEvent::Deleted(service("web").uid("again").build())));
    assert!(store.is_empty());
    assert!(!store.apply(WatchEvent::Deleted(service("web").uid("again").build())));
}

#[test]
fn what_a_list_does_not_name_is_gone() {
    let mut store: Store<Service> = Store::default();
    assert!(!store.apply(WatchEvent::Relisted(Vec::new())), "nothing was there");
    let [a, b, c] = ["a", "b", "c"].map(service);
    assert!(store.apply(WatchEvent::Relisted(vec![a.build(), b.build()])));
    assert!(!store.apply(WatchEvent::Relisted(vec![b.build(), a.build()])));
    assert!(store.apply(WatchEvent::Relisted(vec![b.build(), c.namespace("another").build()])));
    assert_eq!(names(store.iter()), ["another/c", "default/b"]);
    assert_eq!((store.len(), names(store.within("default"))), (2, vec!["default/b".to_owned()]));
    assert_eq!(names(store.within("nowhere")), [""; 0]);
}

#[test]
fn a_group_follows_its_objects() {
    let mut store: Store<VolumeAttachment> = Store::default();
    let on = |name: &str, node: &str| attachment(name, "pv", node);
    store.apply(WatchEvent::Relisted(vec![
        on("a", "n1").build(),
        on("b", "n1").build(),
        on("c", "n2").build(),
    ]));
    assert_eq!(names(store.grouped("n1")), ["/a", "/b"]);
    store.apply(WatchEvent::Applied(on("a", "n2").version(2).build()));
    store.apply(WatchEvent::Deleted(on("c", "n2").build()));
    assert_eq!(
        (names(store.grouped("n1")), names(store.grouped("n2"))),
        (vec!["/b".into()], vec!["/a".into()])
    );
    let mut volumes: Store<PersistentVolume> = Store::default();
    volumes.apply(WatchEvent::Relisted(vec![volume("x").class("fast").build(), volume("y").build()]));
    assert_eq!((names(volumes.grouped("fast")), names(volumes.grouped(""))), (vec!["/x".into()], vec![]));
}

#[test]
fn every_kind_has_its_place() {
    let test_cluster = cluster_builder()
        .with(namespace("default").label("team", "red"))
        .with(service("web").selector([("app", "web")]))
        .with(claim("data").class("fast"))
        .with(volume("pv1").class("fast"))
        .with(storage_class("fast"))
        .with(csi_node("n1").driver("d", 3))
        .with(csi_driver("d"))
        .with(csi_capacity("left", "fast"))
        .with(attachment("a", "pv1", "n1"))
        .with(budget("b").selector([("app", "web")]).allows(1));
    let cluster = test_cluster.cluster();
    let catalog = cluster.catalog();
    assert_eq!(catalog.namespaces.named("default").unwrap().labels.get("team"), Some("red"));
    assert!(catalog.services.get("default", "web").is_some() && catalog.services.named("web").is_none());
    assert!(catalog.claims.get("default", "data").is_some() && catalog.budgets.get("default", "b").is_some());
    assert!(catalog.classes.named("fast").is_some() && catalog.csi_drivers.named("d").is_some());
    assert!(catalog.csi_nodes.named("n1").is_some());
    assert_eq!(names(catalog.volumes_of("fast")), ["/pv1"]);
    assert_eq!(names(catalog.capacities_of("fast")), ["kube-system/left"]);
    assert_eq!(names(catalog.attachments_of(&"n1".into())), ["/a"]);
    assert_eq!(names(catalog.attachments_of(&"n2".into())), [""; 0]);
}

#[test]
fn a_change_names_its_kind_and_nothing_else_is_a_change() {
    let mut cluster = Cluster::default();
    let event = |object: &CatalogObjectBuilder| {
        Event::CatalogObjects(CatalogKind::Service, WatchEvent::Applied(object.build()))
    };
    let events = |changes: Vec<Change>| -> Vec<String> {
        let event = |change: Change| match change {
            Change::Cluster(change) => change.event.to_string(),
            other => panic!("{other:?}"),
        };
        changes.into_iter().map(event).collect()
    };
    assert_eq!(events(cluster.apply(event(&service("web")))), ["ServiceAdd"]);
    assert_eq!(cluster.apply(event(&service("web").version(2))), []);
    assert_eq!(cluster.apply(event(&namespace("web"))), [], "no service");
    let gone = Event::CatalogObjects(CatalogKind::Service, WatchEvent::Relisted(Vec::new()));
    assert_eq!(
        events(cluster.apply(gone.clone())),
        ["ServiceAdd"],
        "of a first list the objects are not told apart"
    );
    assert_eq!(events(cluster.apply(event(&service("web")))), ["ServiceAdd"]);
    assert_eq!(events(cluster.apply(gone.clone())), ["ServiceDelete"]);
    assert_eq!(cluster.apply(gone), []);
}

#[test]
fn what_was_read_stays_when_it_can_no_longer_be_read() {
    let mut cluster = cluster_builder().with(service("web")).cluster();
    assert_eq!(cluster.apply(Event::CatalogKindUnreadable(CatalogKind::Service)), []);
    assert!(cluster.is_complete() && !cluster.catalog().is_readable(CatalogKind::Service));
    assert!(cluster.catalog().services.get("default", "web").is_some());
    cluster.apply(Event::CatalogObjects(CatalogKind::Service, WatchEvent::Relisted(Vec::new())));
    assert!(cluster.catalog().is_readable(CatalogKind::Service) && cluster.catalog().services.is_empty());
}

/// One of few namespaces, with one of few UIDs, versions and contents.
fn some_namespace() -> impl Strategy<Value = Namespace> {
    let parts = (prop_oneof![Just("a"), Just("b"), Just("c")], 0..2_u8, 0..4_u64, any::<bool>());
    parts.prop_map(|(name, life, version, label)| {
        let built = namespace(name).uid(&format!("{name}-{life}")).version(version);
        if label { built.label("x", "y").build() } else { built.build() }
    })
}

fn some_event() -> impl Strategy<Value = WatchEvent<Namespace>> {
    prop_oneof![
        4 => some_namespace().prop_map(WatchEvent::Applied),
        2 => some_namespace().prop_map(WatchEvent::Deleted),
        1 => proptest::collection::btree_map(any::<u8>(), some_namespace(), 0..4).prop_map(|live| {
            let by_name: BTreeMap<_, _> = live.into_values().map(|one| (one.meta.name.clone(), one)).collect();
            WatchEvent::Relisted(by_name.into_values().collect())
        }),
    ]
}

/// The rules of a store, applied to a plain map.
fn apply_plainly(known: &mut BTreeMap<String, Namespace>, event: WatchEvent<Namespace>) {
    let insert = |known: &mut BTreeMap<String, Namespace>, new: Namespace| {
        let name = new.meta.name.to_string();
        let is_old = |old: &Namespace| {
            old.meta.uid == new.meta.uid && old.meta.resource_version > new.meta.resource_version
        };
        if !known.get(&name).is_some_and(is_old) {
            known.insert(name, new);
        }
    };
    match event {
        WatchEvent::Applied(new) => insert(known, new),
        WatchEvent::Deleted(gone) => {
            known.retain(|_, old| old.meta.name != gone.meta.name || old.meta.uid != gone.meta.uid)
        }
        WatchEvent::Relisted(live) => {
            known.retain(|name, _| live.iter().any(|one| *one.meta.name == **name));
            live.into_iter().for_each(|one| insert(known, one));
        }
    }
}

proptest! {
    #[test]
    fn a_store_is_a_map_with_rules(events in proptest::collection::vec(some_event(), 0..20)) {
        let (mut store, mut plain) = (Store::default(), BTreeMap::new());
        let versionless = |map: &BTreeMap<String, Namespace>| -> Vec<Namespace> {
            map.values().cloned().map(|mut one| { one.meta.resource_version = 0; one }).collect()
        };
        for event in events {
            let before = versionless(&plain);
            apply_plainly(&mut plain, event.clone());
            let differs = store.apply(event);
            prop_assert!(store.iter().eq(plain.values()));
            prop_assert_eq!(differs, versionless(&plain) != before);
        }
    }
}

#[test]
fn an_object_turns_back_into_what_it_was_and_nothing_else() {
    let web: Service = service("web").build();
    let other = CatalogObject::from(web.clone());
    assert!(Namespace::try_from(other.clone()).is_err());
    assert_eq!(Service::try_from(other).unwrap(), web);
}
