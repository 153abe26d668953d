package main

// sample is one text of a configuration.
type sample struct{ name, text string }

const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// chosen returns a text for every rule of defaulting, merging and validation.
func chosen() []sample {
	return append(append(append(settings(), plugins()...), arguments()...), extenders()...)
}

func settings() []sample {
	return []sample{
		{"nothing but the kind", head},
		{"JSON", `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","parallelism":3}`},
		{"no kind", "apiVersion: kubescheduler.config.k8s.io/v1\n"},
		{"no version", "kind: KubeSchedulerConfiguration\n"},
		{"empty", ""},
		{"another kind", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeProxyConfiguration\n"},
		{"another group", "apiVersion: apps/v1\nkind: KubeSchedulerConfiguration\n"},
		{"arguments as the file", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs\n"},
		{"a later version", "apiVersion: kubescheduler.config.k8s.io/v2\nkind: KubeSchedulerConfiguration\n"},
		{"every setting", head + `parallelism: 4
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 60
enableProfiling: false
enableContentionProfiling: true
delayCacheUntilActive: true
leaderElection:
  leaderElect: true
  leaseDuration: 1m
  renewDeadline: 40s
  retryPeriod: 1500ms
  resourceLock: leases
  resourceName: mine
  resourceNamespace: default
clientConnection:
  kubeconfig: /etc/scheduler.conf
  acceptContentTypes: application/json
  contentType: application/json
  qps: 12.5
  burst: 7
`},
		{"everything null", head + `parallelism: null
percentageOfNodesToScore: null
podInitialBackoffSeconds: null
podMaxBackoffSeconds: ~
enableProfiling:
profiles: null
extenders: null
leaderElection: null
clientConnection: null
delayCacheUntilActive: null
`},
		{"zero where zero means unset", head + `leaderElection: {leaseDuration: 0s, renewDeadline: "0", retryPeriod: 0h, resourceName: ""}
clientConnection: {qps: 0, burst: 0, contentType: ""}
`},
		{"no profiling", head + "enableProfiling: false\n"},
		{"no contention profiling", head + "enableContentionProfiling: false\n"},
		{"no leader election", head + "leaderElection: {leaderElect: false, leaseDuration: -1s, resourceLock: endpoints}\n"},
		{"parallelism 0", head + "parallelism: 0\n"},
		{"parallelism negative", head + "parallelism: -1\n"},
		{"parallelism as text", head + "parallelism: '16'\n"},
		{"parallelism with a fraction", head + "parallelism: 1.5\n"},
		{"parallelism beyond 32 bits", head + "parallelism: 2147483648\n"},
		{"parallelism at 32 bits", head + "parallelism: 2147483647\n"},
		{"parallelism as a whole float", head + "parallelism: 16.0\n"},
		{"parallelism as a list", head + "parallelism: [1]\n"},
		{"percentage 100", head + "percentageOfNodesToScore: 100\n"},
		{"percentage 101", head + "percentageOfNodesToScore: 101\n"},
		{"percentage negative", head + "percentageOfNodesToScore: -1\n"},
		{"percentage of a profile", head + "percentageOfNodesToScore: 50\nprofiles: [{percentageOfNodesToScore: 20}]\n"},
		{"percentage of a profile 101", head + "profiles: [{percentageOfNodesToScore: 101}]\n"},
		{"backoff 0", head + "podInitialBackoffSeconds: 0\n"},
		{"backoff beyond the default maximum", head + "podInitialBackoffSeconds: 11\n"},
		{"backoff equal", head + "podInitialBackoffSeconds: 10\n"},
		{"backoffs negative", head + "podInitialBackoffSeconds: -2\npodMaxBackoffSeconds: -3\n"},
		{"burst negative", head + "clientConnection: {burst: -1}\n"},
		{"lease shorter than its renewal", head + "leaderElection: {leaseDuration: 5s}\n"},
		{"lease equal to its renewal", head + "leaderElection: {leaseDuration: 10s}\n"},
		{"lease negative", head + "leaderElection: {leaseDuration: -5s, renewDeadline: -6s, retryPeriod: -1s}\n"},
		{"lock other than leases", head + "leaderElection: {resourceLock: endpointsleases}\n"},
		{"duration without a unit", head + "leaderElection: {leaseDuration: \"15\"}\n"},
		{"duration as a number", head + "leaderElection: {leaseDuration: 15}\n"},
		{"duration of several units", head + "leaderElection: {leaseDuration: 1h2m3.5s}\n"},
		{"duration with every unit", head + "leaderElection: {leaseDuration: 1h1m1s1ms1us1ns, renewDeadline: 1µs, retryPeriod: .5s}\n"},
		{"duration too long", head + "leaderElection: {leaseDuration: 9223372036s, renewDeadline: 9223372037s}\n"},
		{"unknown field", head + "parallelsm: 3\n"},
		{"unknown field within", head + "leaderElection: {leaderelect: true}\n"},
		{"a field of v1beta2", head + "healthzBindAddress: \"\"\n"},
		{"the same key twice", head + "parallelism: 3\nparallelism: 4\n"},
		{"wrong shape", head + "leaderElection: true\n"},
		{"bool as text", head + "enableProfiling: 'true'\n"},
		{"text as a number", head + "profiles: [{schedulerName: 7}]\n"},
		{"one profile, no name", head + "profiles: [{}]\n"},
		{"one profile, empty name", head + "profiles: [{schedulerName: \"\"}]\n"},
		{"a profile that is null", head + "profiles: [null]\n"},
		{"no profiles", head + "profiles: []\n"},
		{"two profiles", head + "profiles: [{schedulerName: a}, {schedulerName: b}]\n"},
		{"two profiles, one name", head + "profiles: [{schedulerName: a}, {schedulerName: a}]\n"},
		{"two profiles, a name missing", head + "profiles: [{schedulerName: a}, {}]\n"},
		{"two profiles, both names missing", head + "profiles: [{}, {}]\n"},
		{"an anchor", head + "profiles:\n- &a {schedulerName: a, plugins: &p {score: {disabled: [{name: '*'}]}}}\n- {schedulerName: b, plugins: *p}\n"},
		{"a list that is not", head + "profiles: {schedulerName: a}\n"},
	}
}
