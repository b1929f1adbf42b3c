import { PlatformError } from '../errors.ts';
import { nearestNames } from '../nearest.ts';
import type { StoredResource } from '../record.ts';
import type { Draft } from '../resource-type.ts';
import { allActions } from './actions.ts';
import { LIMIT_RULE, matchedActions } from './policy-rules.ts';

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

export function isAnnounced(singular: string): boolean {
  return ANNOUNCED.has(singular);
}

/** Throws 400 for an unknown action in a rule, with suggestions (D-121); unchanged actions of the stored rule are accepted. */
export function requireKnownActions(rule: Pick<Draft, 'properties'>, before?: StoredResource): void {
  const knownActions = allActions();
  const earlier = new Set(before ? matchedActions(before) : []);
  const propertyName = rule.properties.match_actions === undefined ? 'actions' : 'match_actions';
  matchedActions(rule).forEach((action, index) => {
    const base = action.replace(PHASE, '');
    if (knownActions.has(base) || earlier.has(action)) return;
    const nearest = nearestNames(action.split('.').slice(0, 2).join('.'), [...knownActions]);
    const hint = nearest.length > 0 ? `the nearest: ${nearest.join(', ')}` : 'actions are such as container.create.pre';
    const pointer = `/properties/${propertyName}/${index}${propertyName === 'actions' ? '' : '/action'}`;
    const message = `the action '${action.slice(0, 64)}' does not exist; ${hint}`;
    throw new PlatformError('invalid_body', `${pointer}: ${message}`, { details: [{ pointer, message }] });
  });
}

/** The existing actions of a rule that never trigger it (D-121, D-125). */
export function neverEmitted(rule: StoredResource): string[] {
  const isLimit = rule.type === LIMIT_RULE;
  return matchedActions(rule).filter((action) => {
    const [singular = '', verb = ''] = action.split('.');
    if (isLimit && action.endsWith('.post')) return true;
    const isMove = MOVES.has(verb) && (singular === 'container' || singular === 'lambda');
    const isChange = CHANGES.has(verb) && (isLimit || ANNOUNCED.has(singular));
    return !(isChange || isMove || action.replace(PHASE, '') === 'container.scale');
  });
}
