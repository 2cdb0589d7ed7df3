import type { ProductDraft } from './typed-product.ts'

/** What every part of the form is given. */
export interface ProductFieldsProps {
  draft: ProductDraft
  isNew: boolean
  /** What the service says is wrong with a field, by its name there. */
  faultOf: (param: string) => string | null
  onChange: (part: Partial<ProductDraft>) => void
}
