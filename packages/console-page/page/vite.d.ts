// Types of what Vite provides: non-module imports and its environment.
declare module '*.css' {}

interface ImportMeta {
  readonly env: { readonly BASE_URL: string }
}
