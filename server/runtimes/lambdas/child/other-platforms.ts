export type Advice = readonly [wrong: string, instead: string];

export const NOT_REGISTERED: Advice = [
  'functions are not registered: the platform calls an exported function',
  'exports.run = async (event, context) => result',
];
export const REGISTRIES: readonly unknown[] = ['@azure/functions', '@google-cloud/functions-framework'];

const JAVA: Advice = ['lambdas run on Node.js, which has no Java', "a module of npm: const name = require('name')"];

export const GLOBALS: Readonly<Record<string, Advice>> = {
  Twilio: ["Twilio's objects are not provided", 'return the text of the response, such as TwiML'],
  awslambda: ['results are not streamed', 'exports.run = async (event, context) => result'],
  addEventListener: NOT_REGISTERED,
  Deno: ['lambdas run on Node.js', 'a module of Node.js, such as process.env'],
  print: ['that is not in Node.js', 'console.log(text)'],
  java: JAVA,
  Java: JAVA,
  JavaImporter: JAVA,
  Packages: JAVA,
  importPackage: JAVA,
  importClass: JAVA,
  Polyglot: JAVA,
};

const OF_OTHERS = new RegExp(`\\b(${Object.keys(GLOBALS).join('|')})\\b|${REGISTRIES.join('|')}`);
const UNPACKED = /\}\s*=\s*process\.env\b/;
const VARIABLE = /\bprocess\.env(?:\.([A-Za-z_]\w*)|\[\s*['"]([\w.-]+)['"]\s*\])/g;
const PARAMETERS = /^(?:async\b\s*)?(?:function\b\s*)?\*?\s*(?:[\w$]+\s*(?=\())?\(?\s*([\w$]+)?\s*(?:,\s*([\w$]+))?/;

/** May a source have a mistake that `sourceHints` finds? Cheap: most have none, and need no parser. */
export function mayHaveHints(text: string, handler: string | undefined, variables: readonly string[]): boolean {
  if (OF_OTHERS.test(text) || UNPACKED.test(text)) return true;
  const isUnset = ([, plain, quoted = '']: RegExpMatchArray): boolean => !variables.includes(plain ?? quoted);
  if ([...text.matchAll(VARIABLE)].some(isUnset)) return true;
  if (handler === undefined) return false;
  const [head, first, second = first] = PARAMETERS.exec(handler) ?? [''];
  if (first === undefined) return handler.startsWith('{', head.length);
  if (/^(context|ctx)$/i.test(first)) return true;
  const names = `(?:${[first, second].map((name) => name?.replaceAll('$', '\\$')).join('|')})`;
  // Read, unpacked, copied, looped over, given to another function, or unpacked where it is declared.
  const reads = [
    `\\b${names}\\s*(?:\\?\\.|\\.|\\[)`,
    `\\}\\s*=\\s*${names}\\b`,
    `(?:\\.\\.\\.|\\bin\\s+)${names}\\b`,
    `(?<!\\b(?:parse|log|String))\\((?:[^()]*,)?\\s*${names}\\s*[,)](?!\\s*(?:=>|\\{))`,
    '\\(.*\\{.*\\}.*\\)\\s*(?:=>|\\{)',
  ];
  return new RegExp(reads.join('|')).test(handler);
}
