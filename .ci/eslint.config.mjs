// Lint of the scripts of the interactive page, each a module: bash .ci/lint_scripts
const unsafe = ["innerHTML", "outerHTML", "insertAdjacentHTML", "write", "writeln", "eval", "Function", "setAttribute"];
const browser = [
  "window", "document", "location", "history", "navigator", "localStorage", "console", "performance",
  "matchMedia", "getComputedStyle", "addEventListener", "requestAnimationFrame", "setTimeout", "clearTimeout",
  "fetch", "atob", "scrollTo", "innerHeight", "devicePixelRatio", "URL", "URLSearchParams", "Blob", "Response",
  "DecompressionStream", "ResizeObserver", "Node",
];
const restricted = unsafe.map((property) => ({ property, message: "Elements are made in dom.js." }));

export default [
  {
    files: ["**/*.js"],
    languageOptions: {
      ecmaVersion: 2022, sourceType: "module",
      globals: Object.fromEntries(browser.map((name) => [name, "readonly"])),
    },
    linterOptions: { reportUnusedDisableDirectives: "error", noInlineConfig: true },
    rules: {
      "no-undef": "error", "no-unused-vars": ["error", { caughtErrors: "none" }], "no-eval": "error",
      "no-implied-eval": "error", "no-new-func": "error", "no-script-url": "error", "no-var": "error",
      "prefer-const": "error", "eqeqeq": "error", "no-dupe-keys": "error", "no-unreachable": "error",
      "no-fallthrough": "error", "no-cond-assign": "error", "no-useless-backreference": "error",
      "no-restricted-properties": ["error", ...restricted],
    },
  },
  { files: ["**/dom.js"], rules: { "no-restricted-properties": ["error", ...restricted.slice(0, -1)] } },
];
