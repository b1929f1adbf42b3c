/**
 * Equality of whole texts, where `*` in the wanted one stands for any text, also for none (D-189). Takes time in proportion
 * to the lengths of both, however many `*` there are.
 */
export function wildcard(wanted: string): (text: string) => boolean {
  const [first = '', ...others] = wanted.split('*');
  const last = others.pop();
  if (last === undefined) return (text) => text === wanted;
  return (text) => {
    const end = text.length - last.length;
    if (!text.startsWith(first) || end < first.length || !text.endsWith(last)) return false;
    let from = first.length;
    for (const part of others) {
      const at = text.indexOf(part, from);
      if (at < 0 || at + part.length > end) return false;
      from = at + part.length;
    }
    return true;
  };
}
