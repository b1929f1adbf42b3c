import type { PipelineVariable } from '../contract/delivery.ts';
import { PIPELINE_VARIABLES } from '../model/pipeline-run.ts';
import type { WorldView } from '../model/world-view.ts';

/** What `terrarium pipeline` uses unless it is told otherwise. */
const ORG = 'demo';
const ACCOUNT = 'ci-service';
const DEPLOY_PATH = '/deploy';

/** The specification's variables of a pipeline, and what gives each; other ones that the project sets come after them. */
export function pipelineVariables(view: WorldView, setKeys: readonly string[]): PipelineVariable[] {
  const reasons = missingReasons(view);
  const known = Object.entries(PIPELINE_VARIABLES).map(([name, about]): PipelineVariable => {
    if (setKeys.includes(name)) return { name, about, from: 'project' };
    const missing = reasons.get(name);
    if (missing !== undefined) return { name, about, missing };
    return { name, about, from: /_KEY$|_SECRET$/.test(name) ? 'run' : 'platform' };
  });
  const others = setKeys.filter((key) => !(key in PIPELINE_VARIABLES));
  return [...known, ...others.map((name) => ({ name, about: 'of this project', from: 'project' as const }))];
}

function missingReasons(view: WorldView): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  if (view.named('users', ACCOUNT).length === 0) {
    const reason = `there is no user '${ACCOUNT}' to act as: create one, or name another with --account`;
    for (const name of ['PLATFORM_API_KEY', 'PLATFORM_API_SECRET']) reasons.set(name, reason);
  }
  if (!view.all('apiendpoints').some(({ properties }) => properties.resource === DEPLOY_PATH)) {
    reasons.set('PLATFORM_DEPLOY_URL', `no endpoint is published at ${DEPLOY_PATH}: publish a deployment lambda there`);
  }
  const [org] = view.named('orgs', ORG, view.root.id);
  if (!org) {
    const reason = `there is no organization '${ORG}': name the one to deploy to with --org`;
    for (const name of ['ORG_NAME', 'ENV_UUID', 'API_UUID']) reasons.set(`PLATFORM_TARGET_${name}`, reason);
    return reasons;
  }
  const apis = view.ownedBy(org.id, 'apis');
  const isTarget = ({ id, properties }: { id: string; properties: Readonly<Record<string, unknown>> }) =>
    properties.environment_type === 'development' && apis.some(({ parent }) => parent === id);
  if (!view.ownedBy(org.id, 'environments').some(isTarget)) {
    const reason = `no development environment of '${ORG}' has an API: create one, or choose with --environment and --api`;
    for (const name of ['ENV_UUID', 'API_UUID']) reasons.set(`PLATFORM_TARGET_${name}`, reason);
  }
  return reasons;
}
