import type { Definition } from './definition-schema.ts';
import { commandsOf } from './job-script.ts';
import type { PlannedJob } from './plan.ts';

/** A keyword of GitLab's "CI/CD YAML syntax reference" and its behavior here. */
export interface Keyword {
  /** Its path in a job, such as `artifacts:expire_in`, or a global one, such as `include:local`. */
  name: string;
  state: 'supported' | 'differs' | 'refused';
  /** For one that differs or is refused. */
  what?: string;
}

const SUPPORTED = [
  'after_script allow_failure allow_failure:exit_codes artifacts:exclude artifacts:paths artifacts:reports:dotenv artifacts:reports:junit artifacts:untracked',
  'artifacts:when before_script coverage cache:key cache:key:files cache:key:prefix cache:paths cache:policy cache:unprotect cache:untracked cache:when default',
  'dependencies environment:action environment:deployment_tier environment:name environment:url except extends image:docker:user',
  'image:entrypoint image:name include:local include:rules inherit:default inherit:variables needs needs:artifacts needs:optional',
  'needs:parallel:matrix needs:pipeline:job only parallel parallel:matrix retry retry:exit_codes retry:max retry:when rules:allow_failure rules:changes',
  'rules:exists rules:if rules:needs rules:variables rules:when script services:alias services:command services:entrypoint',
  'services:name services:variables spec:inputs stage stages start_in timeout trigger:forward trigger:include trigger:strategy variables when workflow:rules workflow:rules:variables',
]
  .join(' ')
  .split(' ');

const DIFFERS: Readonly<Record<string, string>> = {
  'artifacts:access': 'all artifacts are readable by the user of this machine',
  'artifacts:expire_in': 'artifacts are kept for seven days',
  'artifacts:expose_as': 'artifacts are not linked on the merge request',
  'artifacts:name': 'artifacts are not archived under a name',
  'artifacts:public': 'all artifacts are readable by the user of this machine',
  'artifacts:reports:coverage_report':
    'its percentage is the coverage of the job if `coverage` has none; it is not shown in changes',
  'cache:fallback_keys': 'a cache without its key is empty',
  'environment:auto_stop_in': 'environments are not stopped after a time',
  'environment:kubernetes': 'the cluster is not configured',
  'environment:on_stop': 'run the job with --job when the branch is gone, or use `pipeline stop`',
  hooks: 'the scripts of hooks are not run',
  'image:docker:platform': 'images run on the platform of this machine',
  'image:kubernetes': 'jobs do not run in a cluster',
  'image:pull_policy': 'an image is pulled if it is not on this machine',
  'include:component': 'it is read from the server that `origin` names',
  'include:project': 'it is read from the server that `origin` names',
  'include:remote': 'it is read over the network at each run',
  'include:template': 'templates are read from gitlab.com',
  interruptible: 'a new pipeline does not cancel older ones',
  manual_confirmation: 'a manual job starts without a question',
  pages: 'pages are not published',
  release: 'no release is created',
  resource_group: 'jobs of different runs can run at the same time',
  'rules:exists:project': 'the files of this repository count',
  'rules:changes:compare_to': 'compared with another branch than the default one, all files count as changed',
  'services:docker:platform': 'images run on the platform of this machine',
  'services:docker:user': 'a service runs as the user of its image',
  'services:pull_policy': 'an image is pulled if it is not on this machine',
  tags: 'every job runs on this machine',
  'variables:options': 'values are not restricted',
  'workflow:auto_cancel': 'neither a new pipeline nor a failed job cancels jobs',
  'workflow:name': 'runs have no name',
};

const REFUSED: Readonly<Record<string, string>> = {
  id_tokens: 'no tokens are issued, but a script reads one',
  identity: 'no tokens are issued',
  'needs:pipeline': 'the status of other pipelines is not known',
  'needs:project': 'artifacts of other projects are not available',
  run: 'steps are not run, not even with --force',
  secrets: 'no secrets are fetched, but a script reads one',
  services: 'services need an image for the job',
  'trigger:project': 'pipelines of other projects are not run',
};

export const KEYWORDS: readonly Keyword[] = [
  ...SUPPORTED.map((name): Keyword => ({ name, state: 'supported' })),
  ...Object.entries(DIFFERS).map(([name, note]): Keyword => ({ name, state: 'differs', what: note })),
  ...Object.entries(REFUSED).map(([name, note]): Keyword => ({ name, state: 'refused', what: note })),
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** A keyword that is used, and that is not as on the server. */
export interface Finding extends Keyword {
  /** None for a global keyword. */
  jobs: string[];
}

/** The keywords of jobs, and the global ones, that differ from GitLab or are refused; refused ones first. */
export function findingsIn(jobs: readonly PlannedJob[], global: Definition['global'] = {}): Finding[] {
  const found = KEYWORDS.filter(({ state }) => state !== 'supported').map((keyword) => ({
    ...keyword,
    jobs: jobs.filter((job) => isUsed(keyword, job)).map(({ name }) => name),
  }));
  return found
    .filter((finding) => finding.jobs.length > 0 || valuesAt(global, finding.name.split(':')).length > 0)
    .sort((a, b) => (a.state < b.state ? 1 : -1) * Number(a.state !== b.state));
}

export function findingText({ name, what, jobs }: Finding): string {
  const users = jobs.length > 0 ? ` of ${jobs.map((job) => `'${job}'`).join(', ')}` : '';
  return `${name}${users}: ${what}`;
}

function isUsed({ name }: Keyword, { definition }: PlannedJob): boolean {
  if (name === 'trigger:project' && typeof definition.trigger === 'string') return true;
  if (name === 'services') return (definition.services ?? []).length > 0 && !definition.image;
  if (name === 'needs:pipeline') return definition.needs?.some(({ pipeline, job }) => pipeline && !job) === true;
  // Variables can be named like a keyword.
  const value = valuesAt({ ...definition, variables: undefined }, name.split(':')).filter(
    (element) => element !== undefined && element !== null,
  );
  if (name !== 'id_tokens' && name !== 'secrets') return value.length > 0;
  const script = commandsOf(definition).join('\n');
  return value
    .flatMap((element) => Object.keys(Object(element)))
    .some((variable) => new RegExp(`\\$\\{?${variable}\\b`).test(script));
}

/** The values of a path; lists on the way count with each of their elements. */
function valuesAt(content: unknown, [first, ...more]: readonly string[]): unknown[] {
  if (first === undefined) return [content];
  if (Array.isArray(content)) return content.flatMap((element) => valuesAt(element, [first, ...more]));
  return Object.hasOwn(Object(content), first) ? valuesAt(Object(content)[first], more) : [];
}
