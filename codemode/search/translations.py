"""Words of tool queries in other languages and what tools call them in English: data for `glossary.py`.

Each entry is `words = translations`, entries parted by `;`. The first translation is the most likely one; `+` joins
two words that are both meant. Written for this project: everyday words for actions, things and places that tools deal
with, not a dictionary. Words of spaced languages are cut where their endings begin, so `busc` stands for `buscar`,
`busca` and `buscando`.
"""

from __future__ import annotations

CHINESE = """
创建 新建 建立 創建 建 = create add new ; 添加 增加 新增 加入 加 = add create insert
删除 刪除 删掉 移除 去掉 删 = delete remove ; 修改 更改 更新 編輯 编辑 改 = update edit modify change
查找 搜索 搜尋 搜寻 检索 找 搜 = search find query lookup ; 查询 查詢 查 = query search get find
查看 显示 顯示 浏览 看 = view show get read ; 获取 取得 得到 拿到 取 = get fetch retrieve
列出 列表 清单 清單 列 = list get ; 读取 讀取 读 讀 = read get fetch ; 写入 寫入 写 = write append
保存 存储 储存 儲存 存 = save store write ; 发送 發送 发 寄 = send post ; 发布 发表 發布 發佈 = publish post release
回复 回覆 答复 = reply respond ; 转发 轉發 = forward ; 上传 上傳 = upload ; 下载 下載 = download ; 导出 匯出 = export
导入 匯入 = import ; 复制 複製 拷贝 = copy duplicate clone ; 移动 移動 挪 = move ; 重命名 改名 = rename
打开 開啟 = open navigate ; 关闭 關閉 关 = close ; 合并 合併 = merge combine
启动 開始 开始 启用 = start enable launch ; 停止 终止 結束 结束 = stop terminate end ; 暂停 = pause suspend
恢复 還原 = restore resume ; 取消 = cancel ; 执行 運行 运行 跑 = execute run ; 调用 = call invoke
计算 算 = calculate compute ; 统计 統計 = statistics count stats ; 分析 = analyze analysis
比较 对比 比對 = compare diff ; 翻译 翻譯 = translate translation ; 转换 轉換 换算 = convert transform
生成 产生 = generate create ; 绘制 画 繪製 = draw plot chart ; 总结 摘要 概括 = summarize summary
识别 = recognize detect identify ; 检查 檢查 检测 = check inspect detect validate ; 验证 驗證 = verify validate
测试 = test ; 监控 監控 监测 = monitor metrics ; 分享 共享 = share ; 订阅 = subscribe ; 关注 = follow watch
评论 留言 = comment ; 标记 標記 = mark tag label ; 分配 指派 = assign ; 提交 = commit submit ; 推送 = push
拉取 = pull ; 克隆 = clone ; 回滚 = rollback revert ; 部署 = deploy deployment ; 安装 = install
登录 登入 = login signin ; 注销 登出 = logout ; 注册 = register ; 授权 = authorize grant ; 邀请 = invite
批准 审批 = approve approval ; 预订 預訂 预约 订 = book reserve booking ; 购买 买 = buy purchase
支付 付款 = pay payment ; 退款 = refund ; 下单 = order + place ; 点击 點擊 = click ; 输入 填写 = type fill input
截图 截屏 = screenshot ; 滚动 = scroll ; 等待 = wait ; 上锁 锁定 = lock ; 解锁 = unlock ; 排序 = sort
筛选 过滤 = filter ; 替换 取代 = replace ; 插入 = insert ; 追加 = append ; 拆分 = split ; 压缩 = compress
格式化 = format ; 提取 抽取 抓取 爬取 = extract scrape crawl fetch ; 追踪 跟踪 = track trace ; 安排 排程 = schedule
提醒 = reminder remind ; 通知 = notify notification ; 设置 設定 设定 配置 = set configure config settings
清空 清除 = clear flush ; 重启 = restart ; 重置 = reset ; 备份 備份 = backup ; 推荐 = recommend recommendation
预测 = predict forecast ; 评估 = evaluate assess ; 播放 = play ; 录制 = record ; 训练 = train
文件夹 資料夾 目录 目錄 = directory folder ; 文件 檔案 = file ; 路径 = path ; 文档 文檔 = document doc
图片 圖片 图像 影像 照片 = image picture photo ; 视频 影片 = video ; 音频 音訊 声音 语音 = audio voice speech
音乐 歌曲 歌 = music song track ; 歌词 = lyrics ; 专辑 = album ; 歌手 = artist singer
邮件 電子郵件 电子邮件 邮箱 信箱 = email mail ; 附件 = attachment ; 草稿 = draft ; 消息 訊息 信息 = message info
短信 = sms message ; 聊天 对话 對話 = chat conversation ; 频道 頻道 = channel ; 群组 群 = group
联系人 聯絡人 = contact ; 用户 使用者 = user ; 成员 = member ; 账户 帳戶 账号 帳號 = account ; 密码 密碼 = password
权限 權限 = permission access ; 角色 = role ; 团队 = team ; 组织 = organization
日历 行事曆 日程 = calendar schedule ; 会议 會議 = meeting ; 事件 活动 活動 = event ; 日期 = date ; 时间 時間 = time
时区 = timezone ; 任务 任務 待办 = task todo ; 问题 議題 工单 = issue problem ticket ; 缺陷 = bug defect
项目 專案 = project ; 看板 = board ; 冲刺 = sprint ; 里程碑 = milestone ; 标签 標籤 = label tag
仓库 倉庫 代码库 = repository repo ; 代码 程式碼 源码 = code source ; 分支 = branch
拉取请求 合并请求 = pull merge + request ; 提交记录 = commit ; 流水线 = pipeline ; 构建 = build ; 日志 日誌 = log
版本 = version release ; 数据库 資料庫 = database db ; 数据 資料 = data
表格 电子表格 試算表 = spreadsheet sheet excel table ; 工作表 = worksheet sheet ; 单元格 = cell ; 表 = table
行 = row ; 列名 = column ; 字段 欄位 = field ; 索引 = index ; 集合 = collection ; 主键 键 = key ; 缓存 = cache
语句 = statement query ; 幻灯片 演示文稿 簡報 = slide presentation powerpoint ; 段落 = paragraph
标题 標題 = title heading ; 页面 頁面 = page ; 页 = page ; 图表 圖表 = chart graph diagram ; 折线图 = line + chart
柱状图 条形图 = bar column + chart ; 饼图 = pie + chart ; 流程图 = flowchart diagram ; 思维导图 = mind + map
连线 边 = edge connection link ; 节点 節點 = node ; 形状 = shape ; 颜色 = color ; 字体 = font ; 模板 = template
网页 網頁 = webpage page web ; 网站 網站 = website site ; 网络 網絡 互联网 上网 = web network internet
链接 連結 网址 = link url ; 浏览器 = browser ; 新闻 新聞 = news ; 文章 = article ; 博客 = blog
论文 論文 = paper arxiv ; 书 书籍 图书 = book ; 百科 = wikipedia encyclopedia ; 热搜 = trending hot
天气 天氣 = weather ; 预报 = forecast ; 温度 气温 = temperature ; 空气质量 = air + quality ; 地图 地圖 = map maps
地址 = address ; 地点 地方 位置 = place location ; 路线 路線 导航 = route directions ; 距离 = distance
附近 周边 = nearby around ; 坐标 经纬度 = coordinates geocode ; 酒店 飯店 宾馆 = hotel ; 航班 机票 = flight
火车 高铁 车票 车次 = train ticket railway ; 车站 = station ; 餐厅 餐館 = restaurant ; 景点 = attraction
停车场 停车 = parking ; 旅行 旅游 = travel trip ; 房源 民宿 = listing accommodation airbnb ; 菜谱 食谱 做菜 = recipe
食物 = food ; 股票 股价 = stock ; 价格 價格 = price ; 汇率 匯率 = exchange + rate ; 货币 = currency
加密货币 比特币 = crypto cryptocurrency bitcoin ; 市场 = market ; 公司 = company ; 财务 财报 = financial finance
费用 成本 = cost ; 账单 帳單 = bill billing invoice ; 预算 = budget ; 订单 訂單 = order ; 产品 商品 = product
库存 = inventory stock ; 客户 客戶 顾客 = customer client ; 销售 = sales ; 交易 = deal transaction trade
服务器 伺服器 = server ; 集群 = cluster ; 容器 = container ; 镜像 = image ; 命名空间 = namespace
服务 服務 = service ; 进程 = process ; 端口 = port ; 云 = cloud ; 域名 = domain ; 主机 = host ; 实例 = instance
函数 = function ; 变量 = variable ; 类 = class ; 符号 = symbol ; 依赖 = dependency ; 告警 警报 報警 = alert alarm
指标 = metric ; 错误 錯誤 报错 = error ; 异常 = exception error anomaly ; 性能 = performance
仪表盘 儀表板 = dashboard ; 值班 = oncall shift + call ; 故障 事故 = incident ; 状态 狀態 = status state
历史 歷史 记录 = history record ; 详情 詳情 细节 = details detail ; 设备 裝置 = device ; 灯 = light ; 开关 = switch
传感器 = sensor ; 空调 = climate ; 场景 = scene ; 自动化 = automation ; 工作流 = workflow ; 知识库 = knowledge
知识图谱 = knowledge + graph ; 记忆 = memory ; 实体 = entity ; 关系 = relation relationship ; 笔记 筆記 = note
内容 內容 = content ; 文本 文字 = text ; 关键词 = keyword ; 名称 名字 = name ; 描述 = description
数量 = number count ; 大小 = size ; 全部 所有 = all ; 最新 最近 = latest recent ; 热门 = popular trending
今天 今日 = today ; 当前 现在 = current now ; 随机 = random ; 中文 = chinese ; 英文 英语 = english ; 语言 = language
世界 = world ; 国家 = country ; 城市 = city ; 人口 = population ; 病人 患者 = patient ; 药物 药品 = drug medication
疾病 = disease ; 健康 = health ; 临床 = clinical trial ; 基因 = gene ; 蛋白质 = protein
学校 大学 = university school ; 学生 = student ; 课程 = course ; 考试 = exam ; 工作 职位 招聘 = job ; 简历 = resume
合同 = contract ; 游戏 = game ; 电影 = movie film ; 比赛 = match game ; 球队 = team ; 球员 = player ; 玩家 = player
直播 = live stream ; 表情 = emoji reaction
"""

JAPANESE = """
作成 新規 作る 作って = create add new ; 追加 = add ; 削除 消す 消して = delete remove
更新 変更 編集 = update edit change ; 検索 探す 探して = search find ; 取得 = get fetch ; 一覧 = list
表示 見る 見せて = show view get ; 読む 読み取り 読み込み = read ; 書き込み 書く = write ; 保存 = save
送信 送る 送って = send post ; 投稿 = post publish ; 返信 = reply ; 転送 = forward ; 移動 = move ; 実行 = run execute
計算 = calculate ; 翻訳 = translate ; 変換 = convert ; 要約 = summarize ; 比較 = compare ; 確認 = check get
開く 開いて = open ; 閉じる = close ; 予約 = book reserve ; ファイル = file
フォルダ フォルダー ディレクトリ = directory folder ; 画像 写真 = image photo ; 動画 = video ; 音声 = audio
文書 ドキュメント = document ; メール = email mail ; メッセージ = message ; チャンネル = channel ; ユーザー = user
連絡先 = contact ; カレンダー 予定 = calendar event ; 会議 = meeting ; イベント = event ; 日付 = date
時刻 時間 = time ; 天気 = weather ; 地図 = map ; 住所 = address ; 場所 = place location ; 経路 = route
課題 チケット = issue ticket ; タスク = task ; プロジェクト = project ; リポジトリ = repository ; コード = code
ブランチ = branch ; コミット = commit ; プルリクエスト = pull + request ; コメント = comment
データベース = database ; データ = data ; テーブル = table ; シート = sheet ; グラフ = chart graph ; ページ = page
ウェブ ネット = web ; サイト = site ; ブラウザ = browser ; リンク = link ; クリック = click
スクリーンショット = screenshot ; ログ = log ; エラー = error ; サーバー = server ; 設定 = config settings
株価 株 = stock ; 価格 値段 = price ; 為替 = exchange + rate ; 注文 = order ; ニュース = news ; 論文 = paper
本 = book ; 音楽 曲 = music song ; ホテル = hotel ; 電車 = train ; 履歴 = history ; 状態 = status ; 詳細 = details
"""

KOREAN = """
만들기 생성 만들 = create add ; 추가 = add ; 삭제 = delete remove ; 수정 변경 업데이트 = update edit
검색 찾기 찾아 = search find ; 조회 가져오기 = get ; 목록 = list ; 읽기 = read ; 쓰기 = write ; 저장 = save
보내기 전송 = send ; 실행 = run execute ; 번역 = translate ; 요약 = summarize ; 파일 = file ; 폴더 = folder directory
이미지 사진 = image ; 문서 = document ; 메일 이메일 = email ; 메시지 = message ; 사용자 = user
일정 = calendar event ; 회의 = meeting ; 날씨 = weather ; 지도 = map ; 이슈 = issue ; 작업 = task
프로젝트 = project ; 저장소 = repository ; 코드 = code ; 데이터베이스 = database ; 표 = table ; 시트 = sheet
차트 = chart ; 페이지 = page ; 웹 = web ; 로그 = log ; 서버 = server ; 주식 = stock ; 가격 = price ; 뉴스 = news
"""

SPANISH_PORTUGUESE = """
crear crea crie criar cria = create add ; añad agreg adicion = add
elimin borra borre apag exclu remov = delete remove ; actualiz atualiz modific edit cambi alter = update edit modify
busc encontr procur pesquis consult = search find query ; obten obtén obter traer consegu = get fetch
lista listar = list ; mostr exib ver = show view get ; leer lee ler leia = read ; escrib escrev = write
guard salv = save store ; envi mand = send ; public = publish post ; respond = reply ; reenv = forward
subir carreg = upload ; descarg baix = download ; copi = copy ; mover mueve = move ; abrir abre = open
cerrar fech cierr = close ; ejecut execut = execute run ; calcul = calculate ; traduc traduz = translate
convert = convert ; resum = summarize ; analiz analis = analyze ; compar = compare ; reserv = book reserve
compr = buy ; pagar pago pagamento = pay payment ; cancel = cancel ; asign atribu = assign
archivo arquivo ficher fichero = file ; carpeta pasta directorio = folder directory ; documento = document
imagen imagem foto = image photo ; correo = email mail ; mensaje mensagem mensagen = message ; canal canai = channel
usuario usuári utilizador = user ; contacto contato = contact ; calendario calendári agenda = calendar
reunión reunion reunião reunio = meeting ; evento = event ; fecha data = date ; hora tiempo tempo = time
tarea tarefa = task ; problema incidencia chamado = issue ticket ; proyecto projeto = project
repositorio repositóri = repository ; código codigo = code ; rama ramo = branch ; comentario comentári = comment
base = database base ; dato dado = data ; tabla tabela = table ; hoja planilha = sheet spreadsheet
gráfico grafico = chart ; página pagina = page ; sitio = site ; navegador = browser ; enlace = link
captura = screenshot ; noticia notícia = news ; clima = weather ; mapa = map ; dirección endereço direccion = address
lugar = place ; ruta rota = route ; vuelo voo = flight ; precio preço preco = price ; acción acciones ações = stock
pedido = order ; cliente = customer ; factura fatura = invoice ; servidor = server ; registro = log record
historial = history ; estado = status ; equipo equipe = team ; libro livro = book ; música musica = music
abierto abert = open
"""

GERMAN = """
erstell anleg erzeug = create add ; hinzufüg = add ; lösch entfern = delete remove
änder aktualisier bearbeit = update edit ; such find = search find ; abruf hol hole = get fetch
auflist liste = list ; zeig anzeig = show view get ; lies lese = read ; schreib = write ; speicher = save store
send schick = send ; veröffentlich = publish post ; antwort = reply ; weiterleit = forward ; hochlad = upload
herunterlad = download ; kopier = copy ; verschieb = move ; umbenenn = rename ; öffn offen = open ; schließ = close
ausführ = run execute ; berechn = calculate ; übersetz = translate ; umrechn umwandl konvertier = convert
zusammenfass = summarize ; analysier = analyze ; vergleich = compare ; buch = book ; kauf = buy ; bezahl = pay
prüf = check ; zuweis = assign ; datei = file ; ordner verzeichn = folder directory ; dokument = document
bild foto = image photo ; nachricht = message news ; kanal = channel ; benutzer nutzer = user ; kontakt = contact
kalender = calendar ; besprech termin = meeting event appointment ; datum = date ; zeit = time ; aufgab = task
problem = issue ; projekt = project ; zweig = branch ; kommentar = comment ; datenbank = database ; daten = data
tabell = table spreadsheet ; diagramm = chart diagram ; seite = page ; bildschirmfoto = screenshot ; wetter = weather
karte = map ; adress = address ; ort = place location ; strecke = route ; flug = flight ; preis = price
aktie = stock ; bestell = order ; kunde = customer ; rechnung = invoice bill ; verlauf = history
"""

FRENCH = """
cré créer crée = create add ; ajout = add ; supprim effac = delete remove ; modifi actualis mettr = update edit
cherch recherch trouv = search find ; obten récupér = get fetch ; lister liste = list
affich montr voir = show view get ; lire lis = read ; écri écrire = write ; enregistr sauvegard = save
envoy envoi = send ; publi = publish post ; répond = reply ; transfér = forward ; télévers = upload
télécharg = download ; copi = copy ; déplac = move ; renomm = rename ; ouvr ouvert = open ; ferm = close
exécut lanc = run execute ; calcul = calculate ; tradui = translate ; convert = convert ; résum = summarize
analys = analyze ; compar = compare ; réserv = book reserve ; achet = buy ; pay paie = pay ; vérifi = check
fichier = file ; dossier répertoir = folder directory ; document = document ; courriel = email mail
messag = message ; utilisat = user ; calendrier agenda = calendar ; réunion = meeting ; événement évènement = event
heure temps = time ; tâche = task ; problème = issue ; projet = project ; dépôt = repository ; branche = branch
commentair = comment ; donnée = data ; tableau = table board ; feuille = sheet ; graphique = chart ; page = page
capture = screenshot ; actualité nouvelle = news ; météo = weather ; carte = map ; adress = address ; lieu = place
itinérair = route ; vol = flight ; prix = price ; bourse = stock ; commande = order ; client = customer
facture = invoice ; serveur = server ; journal journaux = log ; historique = history
"""

RUSSIAN = """
созда = create add ; добав = add ; удал = delete remove ; измен обнов редактир = update edit
найд найти найт поиск искать ищи = search find ; получ = get fetch ; список списк перечисл = list
покаж показ = show view get ; прочит чита = read ; запис напиш = write ; сохран = save ; отправ послат пошли = send
опублик = publish post ; ответ = reply ; загруз = upload ; скача = download ; копир скопир = copy ; перемест = move
переимен = rename ; откр открой = open ; закр закрой = close ; запуст выполн = run execute
посчит вычисл = calculate ; перевед перевод = translate ; анализ = analyze ; сравн = compare ; заброн = book reserve
купи = buy ; оплат = pay ; провер = check ; файл = file ; папк = folder directory ; документ = document
изображ картин фото = image photo ; почт письм = email mail ; сообщен = message ; канал = channel ; пользоват = user
контакт = contact ; календар = calendar ; встреч = meeting ; событи = event ; дата дату = date ; врем = time
задач = task issue ; проект = project ; репозитор = repository ; код = code ; ветк = branch ; коммент = comment
баз = database ; данн = data ; таблиц = table spreadsheet ; график = chart ; страниц = page ; сайт = site website
снимок скриншот = screenshot ; новост = news ; погод = weather ; карт = map ; адрес = address ; маршрут = route
рейс = flight ; цен = price ; акци = stock ; заказ = order ; клиент = customer ; счет = invoice account
сервер = server ; журнал лог = log ; ошибк = error ; истори = history ; статус = status ; команд = team command
книг = book ; музык = music
"""
