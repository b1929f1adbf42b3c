const ALPHANUMERIC = '[a-z0-9]+';
const SEPARATOR = '(?:[._]|__|-+)';
const PATH_COMPONENT = `${ALPHANUMERIC}(?:${SEPARATOR}${ALPHANUMERIC})*`;
const DOMAIN_COMPONENT = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const HOST = `(?:${DOMAIN_COMPONENT}(?:\\.${DOMAIN_COMPONENT})*|\\[[a-fA-F0-9:]+\\])`;
const DOMAIN = `${HOST}(?::[0-9]+)?`;
const TAG = '[\\w][\\w.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[a-fA-F0-9]{32,}';
const NAME = `(?:${DOMAIN}/)?${PATH_COMPONENT}(?:/${PATH_COMPONENT})*`;
/** The grammar of the distribution project, which all engines and registries share. */
const REFERENCE = new RegExp(`^(?<name>${NAME})(?::${TAG})?(?:@${DIGEST})?$`);
/** Longest name, without tag and digest, that engines accept. */
const MAX_NAME_LENGTH = 255;
/** Longer than any name with tag and digest; a bound for the expression above. */
const MAX_LENGTH = 600;

export const imageReferenceHint =
  'must be an image reference, for example nginx:1.27 or registry.example.com/team/app:2';

/** Tells if an engine can be asked for the image: any other text could change the address of the request. */
export function isImageReference(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  const name = REFERENCE.exec(text)?.groups?.name;
  return name !== undefined && name.length <= MAX_NAME_LENGTH;
}
