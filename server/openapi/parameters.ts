import type { JsonObject } from '../model/json.ts';
import { resourceTypes } from '../model/registry.ts';
import { listedOnlyWords, referenceWords, typeWords } from '../model/type-words.ts';
import { namingOf } from './type-naming.ts';

const uuid: JsonObject = { type: 'string', format: 'uuid' };
const text: JsonObject = { type: 'string' };
const time: JsonObject = { type: 'string', format: 'date-time' };
/** A commit's number, or an ISO time. */
const moment: JsonObject = { ...text, examples: ['12', '2026-05-01T12:00:00Z'] };
const flag: JsonObject = { type: 'boolean', default: false };

const inPath: Record<string, [description: string, schema: JsonObject]> = {
  fqon: [
    'Fully qualified name of an organization: `root`, `child`, `child.grandchild`',
    { type: 'string', pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)*$', examples: ['root'] },
  ],
  word: ['Word of a type; `resources` stands for any', { type: 'string', enum: [...typeWords, 'resources'] }],
  listed_word: ['Word of a type that is not emulated', { type: 'string', enum: [...listedOnlyWords] }],
  reference_word: ['Name of a reference list', { type: 'string', enum: [...referenceWords] }],
  resource_id: ['Id of a resource', uuid],
  child_word: ['Word of a type that stands below the other', { type: 'string', enum: [...typeWords, 'resources'] }],
  child_id: ['Id of a resource that is below the other', uuid],
  sub_org_id: ['Id of an organization below the other', uuid],
  entitlement_id: ['Id of an entitlement', uuid],
  type_id: ['Id of a resource type, or its full name', { ...text, examples: ['28cbf0e0-2c48-4589-85d5-df97a3a1f318'] }],
  account_id: ['Id of an account, which is that of its user', uuid],
  directory_id: ['Id of a directory', uuid],
  api_key: ['An API key', text],
  token: ['An access token', text],
  token_id: ['SHA-256 of a token, in hex', text],
  commit_seq: ['Number of a commit', { type: 'integer', minimum: 1 }],
  execution_id: ['Id of an invocation', uuid],
  request_seq: ['Place of a request among those recorded', { type: 'integer', minimum: 1 }],
  project_id: ['Id of a project of the source-control stand-in', text],
  variable_key: ['Name of a variable', text],
  pipeline_id: ['Id of a run of a pipeline', text],
  job_name: ['Name of a job of the run', text],
  lead_id: ['Id of a caught lead', uuid],
  snapshot_name: ['Name of a snapshot', text],
  result_id: ['Id of an asynchronous invocation, or of a lambda for its latest result', uuid],
  api_name: ['Name of an API', text],
  endpoint: ["An endpoint's `resource`, without its first slash, and whatever follows", text],
  ...Object.fromEntries(
    resourceTypes.map((type) => {
      const { one, idParameter } = namingOf(type);
      return [idParameter, [`Id of ${one}`, uuid]] as const;
    }),
  ),
};

const inQuery: Record<string, { name?: string; required?: true; schema: JsonObject; description: string }> = {
  recent_lambda: { name: 'lambda', schema: uuid, description: 'Those of one lambda' },
  recent_endpoint: { name: 'endpoint', schema: uuid, description: 'Those to one endpoint' },
  recent_plane: {
    name: 'plane',
    schema: { type: 'string', enum: ['control', 'gateway'] },
    description: 'Those to the management API, or to public endpoints',
  },
  recent_query: {
    name: 'q',
    schema: { ...text, examples: ['status:error lambda:webform dur:>200 text', 'status:>=500 method:post path:/lead'] },
    description: 'What to look for: all terms have to hold; `-` before one says that it must not',
  },
  recent_scope: { name: 'scope', schema: uuid, description: 'Those below an organization, workspace or environment' },
  recent_after: {
    name: 'after',
    schema: { type: 'integer', minimum: 0 },
    description: 'Only newer ones than this place, e.g. the `newest` of an earlier answer',
  },
  recent_limit: {
    name: 'limit',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
    description: 'How many',
  },
  recent_before: {
    name: 'before',
    schema: { type: 'integer', minimum: 1 },
    description: 'The `next` of the page before',
  },
  expand: { schema: flag, description: 'Whole records instead of links' },
  compact: { schema: flag, description: 'Records without org, owner, created and modified' },
  filter: {
    schema: { type: 'object', additionalProperties: text },
    description: 'Any other parameter selects by equality with a property, or with name, description or id',
  },
  provider_type: {
    name: 'type',
    schema: { ...text, examples: ['CaaS', 'Lambda', 'GatewayManager'] },
    description: 'A trailing part of a provider type, its full name or its id',
  },
  rule_type: { name: 'type', schema: { type: 'string', enum: ['Event', 'Limit'] }, description: 'Kind of rule' },
  showcredentials: { schema: flag, description: 'Show `config.auth.credentials` to those who may change the provider' },
  force: { schema: flag, description: 'Delete what stands below it, too' },
  delete_containers: {
    name: 'deleteContainers',
    schema: flag,
    description: "Delete the provider's containers, and nothing else below it",
  },
  embed: {
    schema: { type: 'array', items: text },
    description: 'Properties to fill with whole records (which ones: see the description)',
  },
  entitlement_action: {
    name: 'action',
    schema: { ...text, examples: ['container.view'] },
    description: 'Only the entitlement of this action',
  },
  provider_action: { name: 'action', required: true, schema: text, description: 'Name of a provider action' },
  migration_provider: { name: 'provider', required: true, schema: uuid, description: 'Provider to move to' },
  promotion_target: { name: 'target', required: true, schema: uuid, description: 'Environment to move to' },
  num_instances: {
    name: 'numInstances',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    description: 'Wanted number of instances',
  },
  member: {
    name: 'id',
    required: true,
    schema: { type: 'array', items: uuid, minItems: 1 },
    description: 'Users; repeat it for more than one',
  },
  name_start: { name: 'name', required: true, schema: text, description: 'What the names begin with' },
  group_name: { name: 'name', required: true, schema: text, description: 'A name; `*` stands for any text' },
  by_name: { name: 'name', schema: text, description: 'A name; `*` stands for any text' },
  by_email: { name: 'email', schema: text, description: 'An address; `*` stands for any text' },
  by_phone: { name: 'phoneNumber', schema: text, description: 'A number; `*` stands for any text' },
  by_username: { name: 'username', schema: text, description: 'The same as `name`' },
  log_time: {
    name: 'time',
    schema: { ...text, examples: ['15m', 'all'] },
    description:
      'Back from now (`90s`, `15m`, `2h`, `1d`), an ISO timestamp, or `all`; the newest 1000 lines unless given',
  },
  log_after: { name: 'after', schema: text, description: 'The cursor of an earlier answer: only lines since' },
  wait_s: {
    name: 'waitS',
    schema: { type: 'integer', minimum: 0, maximum: 60, default: 0 },
    description: 'Seconds to wait for a first one when there is none',
  },
  stderr: { schema: { type: 'boolean', default: true }, description: 'With standard error' },
  lead_email: { name: 'email', schema: text, description: 'Only leads of this address, in any letter case' },
  lead_since: {
    name: 'since',
    schema: { type: 'string', format: 'date-time' },
    description: 'Only leads of this moment or later',
  },
  lead_refused: {
    name: 'refused',
    schema: flag,
    description: 'With `true` the forms that the CRM stand-in refused, each with what its sender was told as `refused`',
  },
  lead_execution: { name: 'execution', schema: uuid, description: 'Only leads that this invocation sent' },
  dry_run: { name: 'dryRun', schema: flag, description: 'Only tell what would be changed' },
  prune: {
    schema: flag,
    description: 'Delete what stands below the organizations of the document and not in it, too',
  },
  history_resource: { name: 'resource', schema: uuid, description: 'Only what concerns this resource' },
  history_scope: {
    name: 'scope',
    schema: uuid,
    description: 'Only commits of this organization, workspace or environment and what is below it, by its path now',
  },
  history_query: {
    name: 'q',
    schema: text,
    description: 'Words that action, way, actor, or path, type or id of a resource hold',
  },
  history_type: {
    name: 'type',
    schema: text,
    description: 'Only commits on resources of this type: its word or full name',
  },
  history_actor: { name: 'actor', schema: text, description: 'Only commits of this user: id or name' },
  history_action: {
    name: 'action',
    schema: { ...text, examples: ['container.update'] },
    description: 'Only this action',
  },
  history_via: {
    name: 'via',
    schema: { type: 'string', enum: ['api', 'ui', 'cli', 'seed', 'engine', 'startup', 'file'] },
    description: 'Only commits that came this way',
  },
  history_from: { name: 'from', schema: time, description: 'Only commits of this moment or later' },
  history_to: { name: 'to', schema: time, description: 'Only commits of this moment or earlier' },
  history_before: { name: 'before', schema: { type: 'integer', minimum: 1 }, description: '`next` of the last page' },
  history_limit: {
    name: 'limit',
    schema: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
    description: 'Most commits on a page',
  },
  world_at: { name: 'at', schema: moment, description: 'A moment; now unless given' },
  outline_query: { name: 'q', schema: text, description: 'Words that path, type or id hold' },
  outline_offset: {
    name: 'offset',
    schema: { type: 'integer', minimum: 0, default: 0 },
    description: 'How many to skip',
  },
  outline_limit: {
    name: 'limit',
    schema: { type: 'integer', minimum: 0, maximum: 1000, default: 200 },
    description: 'How many',
  },
  brief: { schema: flag, description: 'Without operations' },
  diff_from: { name: 'from', required: true, schema: moment, description: 'The moment to compare with' },
  diff_to: { name: 'to', schema: moment, description: 'The moment that is compared; now unless given' },
  seed_scope: {
    name: 'scope',
    schema: { type: 'string', default: '/', examples: ['/demo'] },
    description: 'Path of an organization: names from the root organization down',
  },
};

/** `components.parameters`: by the name in braces those of paths, by a name of the document's own those of queries. */
export function parameters(): JsonObject {
  const paths = Object.entries(inPath).map(([name, [description, schema]]): [string, JsonObject] => [
    name,
    { name, in: 'path', required: true, description, schema },
  ]);
  const queries = Object.entries(inQuery).map(([key, { name = key, ...rest }]): [string, JsonObject] => [
    key,
    { name, in: 'query', ...rest },
  ]);
  return Object.fromEntries([...paths, ...queries]);
}
