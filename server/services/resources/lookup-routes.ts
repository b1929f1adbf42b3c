import { anyRoutes } from '../../api/routes/meta-any.ts';
import { openTypeRoutes } from '../../api/routes/meta-open.ts';
import { envRoutes, lambdaEnvRoutes } from '../../api/routes/meta-types.ts';
import type { MountedRoute } from '../../api/server/mount-routes.ts';
import type { StoredResource } from '../../model/record.ts';
import { closestAncestor, ENVIRONMENT, mergedEnv, ORGANIZATION, WORKSPACE } from '../../model/rules/hierarchy.ts';
import { refuseNotEmulated } from './refused-routes.ts';
import type { ExtraInput, ResourceRouteParts } from './route-parts.ts';
import { read } from './selection.ts';

/** Values that follow from a resource's parents: inherited environment variables, its context, its actions (D-112, D-015). */
export function lookupRouter({ service: { view }, answer }: ResourceRouteParts): MountedRoute[] {
  const context = ({ renderer }: ExtraInput, resource: StoredResource) => {
    const [workspace, environment] = [
      closestAncestor(view, resource, WORKSPACE),
      closestAncestor(view, resource, ENVIRONMENT),
    ];
    const isPlace = [ORGANIZATION, WORKSPACE, ENVIRONMENT].includes(resource.type);
    return {
      organization: renderer.link(closestAncestor(view, resource, ORGANIZATION) ?? view.root),
      ...(workspace && { workspace: renderer.link(workspace) }),
      ...(environment && { environment: renderer.link(environment) }),
      ...(!isPlace && { resource: renderer.link(resource) }),
    };
  };
  const rows = { ...anyRoutes, ...envRoutes, ...lambdaEnvRoutes, readEnv: openTypeRoutes.readEnv };
  return answer(rows, {
    readTop: (input) => read(input, input.found.resource_id),
    readContextOfOrganization: (input) => context(input, input.found.fqon),
    listActionsOfOrganization: () => [],
    readContextOfResource: (input) => context(input, input.found.resource_id),
    listActionsOfResource: () => [],
    readContextOfChild: (input) => context(input, input.found.child_id),
    listNotEmulated: () => [],
    createNotEmulated: ({ path }) => refuseNotEmulated(path.listed_word),
    readEnvOfOrganization: ({ found }) => mergedEnv(view, found.fqon),
    readEnvOfLambdaById: ({ found }) => mergedEnv(view, found.lambda_id),
    readEnv: ({ found }) => mergedEnv(view, found.resource_id),
  });
}
