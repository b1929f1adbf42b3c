import { listedOnlyWords } from '../../model/type-words.ts';
import { referringLists } from './meta-open.ts';
import { defineRoutes, type Route, type Routes, type Verb } from './route.ts';

/* Routes that always fail with an explanation, because clients try them. The document does not list them. */

const CHILDREN = '/meta/{fqon}/{word}/{resource_id}/{child_word}';
const refuses = { summary: 'Rejected', permission: 'caller', errors: [501] } as const;

export const refusedRoutes = defineRoutes('Refused', {
  /** D-090. */
  patchGlobalList: {
    ...refuses,
    route: 'patch /meta/{list_word}',
    acceptedValues: { list_word: ['orgs', 'users', 'rules'] },
  },
  /** D-210. */
  createNotEmulatedBelow: {
    ...refuses,
    route: 'post /meta/{fqon}/{word}/{any_id}/{listed_word}',
    acceptedValues: { listed_word: listedOnlyWords },
  },
  /** These plural names are not accepted in any position (D-213). */
  actOnOther: {
    ...refuses,
    route: 'post /meta/{fqon}/{word}/{any_id}/{verb}',
    acceptedValues: { verb: ['migrate', 'promote', 'scale', 'redeploy'] },
  },
});

/** Lists that only refer to other resources cannot be written (D-004); what POST to one means is decided by the route for all lists. */
export const referringRoutes: Readonly<
  Record<string, Route & { route: `${Verb} ${typeof CHILDREN}${'' | '/{any_id}'}` }>
> = defineRoutes(
  'Refused',
  Object.fromEntries(
    referringLists.flatMap(([parent, child]) =>
      ([`delete ${CHILDREN}`, `patch ${CHILDREN}`, `put ${CHILDREN}`, `post ${CHILDREN}/{any_id}`] as const).map(
        (route) => [
          `${route} ${parent}/${child}`,
          { ...refuses, route, acceptedValues: { word: [parent], child_word: [child] } },
        ],
      ),
    ),
  ),
);

const TYPES = '/meta/{fqon}/resourcetypes';

/** Resource types cannot be changed (D-211). */
export const typeChangeRoutes: Routes = defineRoutes(
  'Refused',
  Object.fromEntries(
    ['', '/{any_type}', '/{any_type}/typeproperties', '/{any_type}/typeproperties/{property}'].flatMap((path) =>
      (['post', 'patch', 'delete'] as const).map((verb): [string, Omit<Route, 'tag'>] => [
        `${verb} ${path}`,
        { ...refuses, route: `${verb} ${TYPES}${path}` },
      ]),
    ),
  ),
);
