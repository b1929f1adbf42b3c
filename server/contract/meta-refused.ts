import { listedOnlyWords } from '../model/type-words.ts';
import { referringLists } from './meta-open.ts';
import { type Row, type Rows, rowsOf, type Verb } from './row.ts';

/*
 * Routes that can only refuse, and say why: what clients try. The document does not tell of them.
 */

const CHILDREN = '/meta/{fqon}/{word}/{resource_id}/{child_word}';
const refuses = { summary: 'Refused', right: 'caller', errors: [400, 404, 501] } as const;

export const refusedRows = rowsOf('Refused', {
  /** D-090. */
  patchGlobalList: { ...refuses, route: 'patch /meta/{list_word}', only: { list_word: ['orgs', 'users', 'rules'] } },
  /** D-210. */
  createNotEmulatedBelow: {
    ...refuses,
    route: 'post /meta/{fqon}/{word}/{any_id}/{listed_word}',
    only: { listed_word: listedOnlyWords },
  },
  /** No words of types either, whatever they stand after (D-213). */
  actOnOther: {
    ...refuses,
    route: 'post /meta/{fqon}/{word}/{any_id}/{verb}',
    only: { verb: ['migrate', 'promote', 'scale', 'redeploy'] },
  },
});

/** Lists that only refer to what stands elsewhere are not written as a whole (D-004). */
export const referringRows: Readonly<Record<string, Row & { route: `${Verb} ${typeof CHILDREN}` }>> = rowsOf(
  'Refused',
  Object.fromEntries(
    referringLists.flatMap(([word, child]) =>
      (['delete', 'patch'] as const).map((verb) => [
        `${verb} ${word}/${child}`,
        { ...refuses, route: `${verb} ${CHILDREN}`, only: { word: [word], child_word: [child] } },
      ]),
    ),
  ),
);

const TYPES = '/meta/{fqon}/resourcetypes';

/** Types are given (D-211). */
export const typeChangeRows: Rows = rowsOf(
  'Refused',
  Object.fromEntries(
    ['', '/{any_type}', '/{any_type}/typeproperties', '/{any_type}/typeproperties/{property}'].flatMap((path) =>
      (['post', 'patch', 'delete'] as const).map((verb): [string, Omit<Row, 'tag'>] => [
        `${verb} ${path}`,
        { ...refuses, route: `${verb} ${TYPES}${path}` },
      ]),
    ),
  ),
);
