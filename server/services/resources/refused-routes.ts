import { referringRoutes, refusedRoutes, typeChangeRoutes } from '../../api/routes/meta-refused.ts';
import type { MountedRoute } from '../../api/server/mount-routes.ts';
import { PlatformError } from '../../model/errors.ts';
import { isTypeWord } from '../../model/type-words.ts';
import { noRoute, ofReferringList } from './paths.ts';
import type { ResourceRouteParts } from './route-parts.ts';

export function refusedRouter({ answer }: ResourceRouteParts): MountedRoute[] {
  return [
    ...answer(refusedRoutes, {
      patchGlobalList: refuseListPatch,
      createNotEmulatedBelow: ({ path }) => refuseNotEmulated(path.listed_word),
      actOnOther({ req }) {
        throw noRoute(req);
      },
    }),
    ...answer(
      referringRoutes,
      allOf(referringRoutes, ({ path, req }) => {
        const collection = path.child_word;
        throw isTypeWord(collection) ? ofReferringList(path, collection, req) : noRoute(req);
      }),
    ),
    ...answer(
      typeChangeRoutes,
      allOf(typeChangeRoutes, () => {
        throw new PlatformError('not_supported', 'changing resource types is not emulated (D-211)');
      }),
    ),
  ];
}

function allOf<Handle>(table: object, handle: Handle): Record<string, Handle> {
  return Object.fromEntries(Object.keys(table).map((id) => [id, handle]));
}

export function refuseListPatch(): never {
  throw new PlatformError('invalid_request', 'a list cannot be patched; PATCH one of its resources (D-090)');
}

export function refuseNotEmulated(collection: string): never {
  throw new PlatformError('not_supported', `${collection} are not emulated (D-210)`);
}
