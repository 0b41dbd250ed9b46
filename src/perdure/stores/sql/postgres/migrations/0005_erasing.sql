-- Erasing for good may take words out of the journal; nothing else changes a line. The transaction says so by a setting.

CREATE POLICY erasing ON journal FOR UPDATE USING (
    current_setting('perdure.erasing', true) = 'on'
    AND {own});
