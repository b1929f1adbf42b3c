import { anyRows } from '../contract/meta-any.ts';
import { openTypeRows } from '../contract/meta-open.ts';
import { envRows, lambdaEnvRows } from '../contract/meta-types.ts';
import type { Served } from '../http/serve.ts';
import { ENVIRONMENT, enclosing, mergedEnv, ORGANIZATION, WORKSPACE } from '../model/hierarchy.ts';
import type { StoredResource } from '../model/record.ts';
import { refuseNotEmulated } from './refused-routes.ts';
import type { Given, ResourceRouteParts } from './route-parts.ts';
import { read } from './selection.ts';

/** What is computed from where a resource stands: inherited environment variables, its context, its actions (D-112, D-015). */
export function lookupRoutes({ service: { view }, answer }: ResourceRouteParts): Served[] {
  const context = ({ renderer }: Given, resource: StoredResource) => {
    const [workspace, environment] = [enclosing(view, resource, WORKSPACE), enclosing(view, resource, ENVIRONMENT)];
    const isPlace = [ORGANIZATION, WORKSPACE, ENVIRONMENT].includes(resource.type);
    return {
      organization: renderer.link(enclosing(view, resource, ORGANIZATION) ?? view.root),
      ...(workspace && { workspace: renderer.link(workspace) }),
      ...(environment && { environment: renderer.link(environment) }),
      ...(!isPlace && { resource: renderer.link(resource) }),
    };
  };
  return [
    ...answer(anyRows, {
      readTop: (asked) => read(asked, asked.found.resource_id),
      readContextOfOrganization: (asked) => context(asked, asked.found.fqon),
      listActionsOfOrganization: () => [],
      readContextOfResource: (asked) => context(asked, asked.found.resource_id),
      listActionsOfResource: () => [],
      readContextOfChild: (asked) => context(asked, asked.found.child_id),
      listNotEmulated: () => [],
      createNotEmulated: ({ path }) => refuseNotEmulated(path.listed_word),
    }),
    ...answer(envRows, { readEnvOfOrganization: ({ found }) => mergedEnv(view, found.fqon) }),
    ...answer(lambdaEnvRows, { readEnvOfLambdaById: ({ found }) => mergedEnv(view, found.lambda_id) }),
    ...answer({ readEnv: openTypeRows.readEnv }, { readEnv: ({ found }) => mergedEnv(view, found.resource_id) }),
  ];
}
