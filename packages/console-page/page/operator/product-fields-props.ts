import type { ProductDraft } from './typed-product.ts'

/** Props of each section of the product form. */
export interface ProductFieldsProps {
  draft: ProductDraft
  isNew: boolean
  /** API error for a field, by its name in the request. */
  faultOf: (param: string) => string | null
  onChange: (part: Partial<ProductDraft>) => void
}
