// What Vite makes of imports that are not modules.
declare module '*.css' {}

interface ImportMeta {
  readonly env: { readonly BASE_URL: string }
}
