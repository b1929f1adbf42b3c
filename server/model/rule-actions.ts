import { allActions } from './actions.ts';
import { PlatformError } from './errors.ts';
import { nearestNames } from './nearest.ts';
import { LIMIT_RULE, matchedActions } from './policy-rules.ts';
import type { StoredResource } from './record.ts';
import type { Draft } from './resource-type.ts';

/** The nouns whose actions are events (D-125). */
const ANNOUNCED = new Set([
  'container',
  'lambda',
  'api',
  'apiendpoint',
  'environment',
  'workspace',
  'provider',
  'secret',
  'volume',
]);
const CHANGES = new Set(['create', 'update', 'delete']);
const MOVES = new Set(['migrate', 'promote']);
const PHASE = /\.(pre|post)$/;

/** Are rules told of what is done to resources of that noun? */
export function isAnnounced(noun: string): boolean {
  return ANNOUNCED.has(noun);
}

/**
 * Throws 400 for an action in a rule that there is not, with the nearest that there are (D-121); what the rule said before may
 * stay.
 */
export function demandKnownActions(rule: Pick<Draft, 'properties'>, before?: StoredResource): void {
  const known = allActions();
  const earlier = new Set(before ? matchedActions(before) : []);
  const place = rule.properties.match_actions === undefined ? 'actions' : 'match_actions';
  matchedActions(rule).forEach((action, index) => {
    const base = action.replace(PHASE, '');
    if (known.has(base) || earlier.has(action)) return;
    const nearest = nearestNames(action.split('.').slice(0, 2).join('.'), [...known]);
    const hint = nearest.length > 0 ? `the nearest: ${nearest.join(', ')}` : 'actions are such as container.create.pre';
    const pointer = `/properties/${place}/${index}${place === 'actions' ? '' : '/action'}`;
    const message = `there is no action '${action.slice(0, 64)}'; ${hint}`;
    throw new PlatformError(400, `${pointer}: ${message}`, { details: [{ pointer, message }] });
  });
}

/** The actions of a rule that it is never asked or told about, although they exist: nothing comes of them (D-121, D-125). */
export function neverEmitted(rule: StoredResource): string[] {
  const isLimit = rule.type === LIMIT_RULE;
  return matchedActions(rule).filter((action) => {
    const [noun = '', verb = ''] = action.split('.');
    if (isLimit && action.endsWith('.post')) return true;
    const isMove = MOVES.has(verb) && (noun === 'container' || noun === 'lambda');
    const isChange = CHANGES.has(verb) && (isLimit || ANNOUNCED.has(noun));
    return !(isChange || isMove || action.replace(PHASE, '') === 'container.scale');
  });
}
