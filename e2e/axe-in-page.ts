/** The rules that depend on colours. Both themes are the same page in other colours, so all other rules are checked in one of them. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
/** Omits details of passed rules and selectors of failed ones, which take a third of the time. */
const ALL = { resultTypes: ['violations'], selectors: false };
const WITHOUT_COLOURS = { ...ALL, rules: Object.fromEntries(COLOUR_RULES.map((id) => [id, { enabled: false }])) };
const COLOURS = { ...ALL, preload: false, runOnly: COLOUR_RULES };
/** Elements whose contrast axe does not check. */
const OFF = ':disabled, :disabled *, [aria-disabled="true"], [aria-disabled="true"] *';
/** Prefix for the appearance of a text that is covered or out of view. */
export const HIDDEN = 'hidden; ';

/**
 * A script for a page with axe, which adds three functions to it:
 * - `listAppearances(include, exclude)`: the appearances of the texts there. An appearance is the style of a text and of what is painted
 *   below it: all that decides its contrast, and whether axe can measure it. It contains the classes of surfaces, because two that
 *   have the same colour in this theme can differ in the other.
 * - `runAxe(include, exclude, withColours)`: the violations there.
 * - `runColourRules(fresh)`: the violations in this theme of texts with these appearances, those appearances, and the present ones.
 */
export const AXE_IN_PAGE = `
{
  let texts = new Map();
  const faultsOf = ({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | '));
  const layerOf = (element) => {
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
    if (backgroundColor === 'rgba(0, 0, 0, 0)' && backgroundImage === 'none' && opacity === '1') return '';
    const surface = element.className.match?.(/\\S*bg-\\S+/g) ?? element.className;
    return [surface, backgroundColor, backgroundImage, opacity].join();
  };
  const appearanceOf = (text, layers) => {
    const paint = (one) => layers.get(one) ?? layers.set(one, layerOf(one)).get(one);
    const { left, top, width, height } = text.getBoundingClientRect();
    const stack = document.elementsFromPoint(left + width / 2, top + height / 2);
    const at = stack.indexOf(text);
    const isHidden = at < 0 || width <= 1 || stack.slice(0, at).some((one) => paint(one) && !text.contains(one));
    const below = isHidden ? [] : stack.slice(at);
    for (let one = text; one; one = one.parentElement) below.push(one);
    const isOff = text.matches('${OFF}') || text.closest('label')?.control?.disabled === true;
    const isSign = [...text.childNodes].every(({ data = '' }) => data.trim().length < 2);
    const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(text);
    const around = text.localName === 'a' && getComputedStyle(text.parentElement).color;
    const written = [color, fontSize, fontWeight, textDecorationLine, around, isOff, isSign];
    return (isHidden ? '${HIDDEN}' : '') + [...written, ...[...new Set(below)].map(paint).filter(Boolean)].join('; ');
  };
  const isText = (element) =>
    element.matches('input, textarea, select') ||
    [...element.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== '');
  const textsIn = (include, exclude) => {
    const layers = new Map();
    const found = new Map();
    for (const element of document.querySelectorAll(':is(' + include + '), :is(' + include + ') *')) {
      if (!isText(element) || element.closest(exclude) || !element.checkVisibility({ visibilityProperty: true })) continue;
      const appearance = appearanceOf(element, layers);
      if (!found.has(appearance)) found.set(appearance, element);
    }
    return found;
  };
  globalThis.listAppearances = (include, exclude) => [...(texts = textsIn(include, exclude)).keys()];
  globalThis.runAxe = async (include, exclude, withColours) => {
    const options = withColours ? ${JSON.stringify(ALL)} : ${JSON.stringify(WITHOUT_COLOURS)};
    return faultsOf(await axe.run({ include: [include], exclude: [exclude] }, options));
  };
  globalThis.runColourRules = async (fresh) => {
    const there = fresh.filter((one) => texts.get(one).isConnected);
    if (there.length === 0) return { faults: [], asked: [] };
    const asked = there.map((one) => texts.get(one));
    const faults = faultsOf(await axe.run({ include: asked }, ${JSON.stringify(COLOURS)}));
    const layers = new Map();
    return { faults, asked: [...there, ...asked.map((text) => appearanceOf(text, layers))] };
  };
}`;
