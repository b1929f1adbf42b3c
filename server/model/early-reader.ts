/**
 * Variables that make programs execute or load something before the script of a job starts. Set remotely, they would run commands on the
 * machine of the pipeline, whatever the definition says; a definition or script can set them. Variables that tell a runner how to fetch,
 * such as GIT_DEPTH, are not read by git and can be set.
 */
const EARLY_READERS: readonly (readonly [reader: string, names: RegExp])[] = [
  ['shells', /^(?:PATH|IFS|CDPATH|ENV|PS4|SHELLOPTS|PROMPT_COMMAND|BASHOPTS|BASH_.*|ZDOTDIR)$/],
  ['the dynamic loader', /^(?:LD|DYLD)_.*$|^GCONV_PATH$/],
  ['Node', /^NODE_(?:OPTIONS|PATH|REPL_EXTERNAL_MODULE)$/],
  ['Python', /^PYTHON(?:STARTUP|PATH|HOME|INSPECT|USERBASE|BREAKPOINT)$/],
  ['Perl', /^PERL(?:5OPT|5LIB|5DB|LIB)$/],
  ['Ruby', /^RUBY(?:OPT|LIB|SHELL)$/],
  ['Java', /^(?:JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|CLASSPATH)$/],
  ['.NET', /^DOTNET_STARTUP_HOOKS$|^COR(?:ECLR)?_PROFILER/],
  ['PHP, Lua or R', /^(?:PHPRC|PHP_INI_SCAN_DIR|LUA_(?:INIT|PATH|CPATH).*|R_(?:PROFILE|ENVIRON).*)$/],
  ['git', /^GIT_(?:SSH|SSH_COMMAND|PROXY_COMMAND|ASKPASS|EXTERNAL_DIFF|EXEC_PATH|TEMPLATE_DIR|.*EDITOR|.*PAGER)$/],
  ['git', /^GIT_(?:CONFIG.*|DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|.*OBJECT_DIRECTOR.*|TRACE.*|ALLOW_PROTOCOL)$/],
  ['programs that call others', /^(?:SSH_ASKPASS|EDITOR|VISUAL|PAGER|MANPAGER|LESSOPEN|LESSCLOSE)$/],
  ['the pipeline runner', /^(?:GCL|TERRARIUM)_.*$/],
];

/** The program that reads a variable before the script of a job does; undefined if only scripts read it. */
export function earlyReaderOf(key: string): string | undefined {
  return EARLY_READERS.find(([, names]) => names.test(key))?.[0];
}
