-- What a chat product takes of images, and what image and voice products make and let nodes choose (rules §3.11, flows §2.3).
-- 15,728,640 bytes are all images of one chat together, 25,000,000 an asset.
ALTER TABLE control.products
  ADD COLUMN image_max_bytes  integer NOT NULL DEFAULT 5242880 CHECK (image_max_bytes BETWEEN 1 AND 15728640),
  ADD COLUMN image_max_count  integer NOT NULL DEFAULT 10 CHECK (image_max_count BETWEEN 1 AND 100),
  ADD COLUMN image_https      boolean NOT NULL DEFAULT false,
  ADD COLUMN max_output_bytes integer NOT NULL DEFAULT 5242880 CHECK (max_output_bytes BETWEEN 1 AND 25000000),
  ADD COLUMN parameter_values jsonb   NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(parameter_values) = 'object');
