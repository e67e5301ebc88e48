overview-title = Overview
