import type { JsonObject } from '../model/json.ts';
import { resourceTypes, typeWords } from '../model/registry.ts';
import { listedOnlyWords, referenceWords } from '../model/type-words.ts';
import { namingOf } from './type-naming.ts';

const uuid: JsonObject = { type: 'string', format: 'uuid' };
const text: JsonObject = { type: 'string' };

/** What stands in braces in the paths of rows: a sentence, and a JSON Schema. */
export const pathParameters: Readonly<Record<string, readonly [description: string, form: JsonObject]>> = {
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
